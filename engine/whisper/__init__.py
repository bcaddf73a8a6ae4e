"""Whisper itself, whatever runs the graphs."""
