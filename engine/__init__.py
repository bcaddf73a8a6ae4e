"""The transcription engine: no Qt, useful without the window."""
