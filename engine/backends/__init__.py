"""Ways of running a Whisper model; a new one is one file."""
