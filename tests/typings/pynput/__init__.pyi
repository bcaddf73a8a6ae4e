"""The part of pynput that app/held_key_pynput.py uses (1.8)."""
