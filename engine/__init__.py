"""The transcription engine: no Qt, useful without the window."""

import os

# Read when numpy is loaded. The threads of its matrix library spin on for 25 ms after every product, on the cores that
# the model's own threads are waiting for: the encoder took a quarter longer. Its products here are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Read when ONNX Runtime is loaded. Its wheels report to their maker over the network, and keep an identifier of this
# machine in the home folder, unless this is set; its own switch in Python comes after the first event.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
