"""Signs of life during a call that can take minutes, such as the loading of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeAlias, TypeVar

from engine.protocol import Progress, Stage

EVERY_S = 1.0
PATIENCE_S = 600.0  # a call that tells nothing new for so long is taken to hang: twice the trial of a GPU

Tell: TypeAlias = Callable[[int, int], None]  # done, in all
_T = TypeVar("_T")


def while_running(
    job: int,
    call: Callable[[Tell], _T],
    every: float = EVERY_S,
    patience: float = PATIENCE_S,
    stage: Stage = "loading",
) -> Generator[Progress, None, _T]:
    """Run `call` in a thread; its result is the generator's value, and its exceptions are the generator's.

    Progress is given every `every` seconds, whatever `call` tells: of `stage` from the first that it tells until that
    is through, of "loading" before and after. When it has told nothing new for `patience` seconds no more follows, so
    that whoever watches for hangs can notice one.
    """
    told: tuple[int, int | None] = (0, None)

    def tell(done: int, total: int) -> None:
        nonlocal told
        told = (done, total)

    executor = ThreadPoolExecutor(1, "while_running")
    future = executor.submit(call, tell)
    executor.shutdown(wait=False)  # nothing else follows
    shown, since = told, time.monotonic()
    while not wait((future,), every).done:
        if told != shown:
            shown, since = told, time.monotonic()
        if time.monotonic() - since < patience:
            yield _progress(job, stage, *shown)
    return future.result()


def _progress(job: int, stage: Stage, done: int, total: int | None) -> Progress:
    if total is None or done >= total:
        return Progress(job, "loading", 0, None, None)
    return Progress(job, stage, done, total, None)
