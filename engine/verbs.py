"""The first words that belong to the engine's command line; everything else is a file for the window.

It stands alone, so that the window's start need not import the command line to know them.
"""

from __future__ import annotations

VERBS = frozenset({"transcribe", "models", "selftest", "worker"})
