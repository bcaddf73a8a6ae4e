"""The transcription engine: no Qt, useful without the window."""

import os

# Read when numpy is loaded. The threads of its matrix library spin on for 25 ms after every product, on the cores that
# the model's own threads are waiting for: the encoder took a quarter longer. Its products here are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
