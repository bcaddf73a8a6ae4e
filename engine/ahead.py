"""Items made ahead of their use, in a thread: a file is read and heard while the model works on what came before."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


class _End:
    """There are no more items."""


_END = _End()


def ahead(items: Iterator[_T], depth: int) -> Generator[_T]:
    """The same items, up to `depth` of them made before they are asked for; an error comes where its item would.

    Close it before anything that the items are made of: closing waits for the item that is being made.
    """
    with ThreadPoolExecutor(1, "ahead") as thread:
        making = deque(thread.submit(next, items, _END) for _ in range(depth))
        try:
            while not isinstance(item := making.popleft().result(), _End):
                making.append(thread.submit(next, items, _END))
                yield item
        finally:
            for future in making:
                future.cancel()
