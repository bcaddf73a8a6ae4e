"""The names of the backends, for those who must not load any."""

from __future__ import annotations

BACKENDS = ("auto", "onnx", "tract", "whispercpp", "coreml", "fake")
