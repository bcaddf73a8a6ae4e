"""A child that transcribes with plain pywhispercpp: a JSON line in, a JSON line out."""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np
from pywhispercpp.model import Model

from engine.audio.media import open_media


def main() -> None:
    """Serve stdin until it ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whisper.cpp prints
    model = Model(sys.argv[1], n_threads=int(sys.argv[2]), print_progress=False, print_realtime=False)
    for line in sys.stdin:
        request = json.loads(line)
        with open_media(request["path"]) as media:
            samples = np.concatenate([block.samples for block in media.blocks()])
        began = time.monotonic()
        segments = model.transcribe(samples, language=request["language"])
        seconds = time.monotonic() - began
        text = " ".join(segment.text for segment in segments)
        print(json.dumps({"text": text, "seconds": seconds}), file=out, flush=True)


main()
