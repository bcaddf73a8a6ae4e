"""The window's executable of the packaged program: shown to people as Sottovoce, it takes files as its words."""

from __future__ import annotations

import sys

from app.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
