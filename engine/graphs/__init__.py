"""Whisper's weights written as programs for a runtime."""
