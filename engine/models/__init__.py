"""Whisper model files: the catalogue, the store, the format, where they come from."""
