"""Ten hours take no more memory than ten minutes, and are read hundreds of times faster than they play."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

READ = """
import sys, time
from engine.audio.media import open_media
from engine.memory import peak_memory
began = time.process_time()
with open_media(sys.argv[1]) as media:
    blocks = media.blocks()
    samples = len(next(blocks).samples)
    before = peak_memory()
    samples += sum(len(block.samples) for block in blocks)
grown = peak_memory() - before
print(samples / 16, grown, samples / 16_000 / (time.process_time() - began))
"""
MOST_GROWTH = 16 << 20  # bytes; a minute as float32 is 4 MB


def read(path: Path) -> tuple[float, float, float]:
    """Length in ms, growth of memory after the first block in bytes, speed in times real time of CPU time."""
    run = subprocess.run([sys.executable, "-c", READ, os.fspath(path)], capture_output=True, text=True, check=True)
    ms, grown, speed = map(float, run.stdout.split())
    return ms, grown, speed


def test_ten_hours_take_no_memory(make):
    path = make("ten_hours.flac", "-frame_size", "16384", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono:d=36000")
    ms, grown, speed = read(path)
    assert ms == 36_000_000
    assert grown < MOST_GROWTH
    assert speed > 300  # 15,000 on an idle machine


@pytest.mark.parametrize("name", ["stereo.mp3", "stereo.flac", "stereo.m4a"])
def test_stereo_music_is_read_three_hundred_times_faster_than_it_plays(name, make):
    path = make(f"speed_{name}", tone="0.3*random(0)|0.3*random(1)", seconds=120)
    assert read(path)[2] > 100  # 400 to 600 on an idle machine of 2024; the margin is for busy ones


@pytest.mark.real
def test_two_hours_of_silence_take_no_memory(shared_audio):
    ms, grown, _ = read(shared_audio / "odd" / "long_2h_silence_then_words.flac")
    assert ms == 7_208_730
    assert grown < MOST_GROWTH
