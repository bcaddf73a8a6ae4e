"""The first words that belong to the engine's command line; everything else is a file for the window.

It stands alone, so that the window's start need not import the command line to know them.
"""

from __future__ import annotations

import argparse
from typing import Protocol

VERBS = frozenset({"transcribe", "export", "models", "coreml", "selftest", "record", "devices", "worker"})


class Verbs(Protocol):
    """Where a verb adds its parser: what `ArgumentParser.add_subparsers` gives."""

    def add_parser(self, name: str, *, help: str = ...) -> argparse.ArgumentParser:  # noqa: A002 (argparse's name)
        """A parser for the verb `name`."""
        ...
