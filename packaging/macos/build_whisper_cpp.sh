#!/bin/sh
# Build pywhispercpp with whisper.cpp's Core ML encoder, which the published wheels lack, and install it into .venv.
# On macOS with Apple silicon, the command line tools and CMake. Not run on a Mac yet: see docs/coreml.md.
#
# pywhispercpp's setup.py hands every environment variable on to CMake as -DNAME=VALUE.
#   WHISPER_COREML_ALLOW_FALLBACK: without it whisper.cpp frees what it never made, and dies, for each model whose
#   encoder is missing; with it, it says so and goes on with Metal.
#   GGML_NATIVE=OFF: the wheel runs on other Macs than this one.
set -eu
cd "$(dirname "$0")/../.."
[ "$(uname -sm)" = "Darwin arm64" ] || { echo "This needs a Mac with Apple silicon." >&2; exit 1; }
python=.venv/bin/python
wanted=$($python -c 'from importlib.metadata import version; print(version("pywhispercpp"))')
WHISPER_COREML=1 WHISPER_COREML_ALLOW_FALLBACK=1 GGML_NATIVE=OFF GGML_METAL=1 GGML_METAL_EMBED_LIBRARY=1 \
    $python -m pip wheel --no-deps --no-binary pywhispercpp --wheel-dir build/wheels "pywhispercpp==$wanted"
$python -m pip install --force-reinstall --no-deps build/wheels/pywhispercpp-"$wanted"-*.whl
$python -c '
import _pywhispercpp as cpp
info = cpp.whisper_print_system_info()
print(info)
raise SystemExit(0 if "COREML = 1" in info else "This build has no Core ML.")'
