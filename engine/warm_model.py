"""The model in memory, kept from one file to the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.backends.base import Backend
from engine.backends.gpu import condemn
from engine.backends.select import load_backend
from engine.errors import Code, EngineError
from engine.folders import models_folder
from engine.models.ggml import read_model
from engine.models.starter import BASE, ensure_starter, starter_available
from engine.models.store import ModelStore
from engine.protocol import Event, Loaded, Notice, Progress
from engine.speech.quality import is_nonsense
from engine.types import Options, Segment
from engine.while_running import Tell, while_running

# A window of 30 s takes base (148 MB) about 2.5 s on two slow cores; the rest is in proportion to the file.
_WINDOW_MS_PER_MB = 17


class WarmModel:
    """Loads what the options ask for, unless it is there already. One at a time: models are large."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._backend: Backend | None = None
        self._key: tuple[object, ...] = ()
        self._loaded: Loaded | None = None
        self._failures: list[str] = []  # of its Core ML encoder, not told yet
        self.window_seconds = 0.0  # what a window took to decode the last time; 0: not known

    @property
    def backend(self) -> Backend:
        """The loaded backend; `load` comes first."""
        if self._backend is None:
            raise EngineError(Code.INTERNAL, "no model is loaded")
        return self._backend

    def load(self, job: int, options: Options) -> Iterator[Event]:
        """Bring the model in memory, saying so; ends with Loaded.

        EngineError when it cannot be had, and MODEL_CANNOT when it was not trained for the task.
        """
        model = yield from while_running(job, lambda tell: self._file(options, tell))
        _check_task(options, model)
        key = (
            model,
            _stamp(model),
            options.backend,
            options.device,
            options.low_power,
            options.precision,
            options.threads,
            options.profile,
        )
        if self._loaded is None or key != self._key or options.profile:  # a profile is of one file
            yield Progress(job, "loading", 0, None, None)
            self.close()
            yield from self._fresh(job, options, model)
            self._key = key
        assert self._loaded is not None
        yield replace(self._loaded, job=job, model=options.model)

    def trusted(
        self, job: int, options: Options, decode: Callable[[], list[list[Segment]]]
    ) -> Generator[Event, None, list[list[Segment]]]:
        """What `decode` gives, as the generator's value; once more without the GPU when that gives nonsense."""
        found = decode()
        yield from self._without_encoder(job, options)
        if self.backend.gpu and any(is_nonsense(segment.text) for segments in found for segment in segments):
            yield from self.fall_back_to_cpu(job, options, "It gave one character over and over.")
            found = decode()
        return found

    def _without_encoder(self, job: int, options: Options) -> Iterator[Event]:
        """The Core ML encoder may have failed meanwhile: say so, and load what is the fastest without it."""
        if not self._failures:
            return
        why = self._failures.pop()
        yield Notice(job, "coreml_failed", why)
        if options.backend == "auto":
            self._key = ()
            yield from self.load(job, options)

    def fall_back_to_cpu(self, job: int, options: Options, why: str) -> Iterator[Event]:
        """Load the same model without the GPU, which has shown that it computes wrongly; later files too."""
        condemn(self._data, options, why)
        yield Notice(job, "gpu_failed", why)
        yield from self.load(job, replace(options, device="cpu"))

    def _fresh(self, job: int, options: Options, model: Path) -> Iterator[Event]:
        began = time.monotonic()
        load = partial(load_backend, options, model, self._data)
        choice = yield from while_running(job, load, stage="building")
        self._backend, self._failures, self.window_seconds = choice.backend, choice.failures, 0.0
        if choice.gpu_failed:
            yield Notice(job, "gpu_failed", choice.gpu_failed)
        took = round((time.monotonic() - began) * 1000)
        megabytes = 0 if options.backend == "fake" else model.stat().st_size // 1_000_000
        self._loaded = Loaded(
            job=job,
            model=options.model,
            backend=choice.backend.name,
            device=choice.backend.device,
            reason=choice.reason,
            load_ms=took,
            window_ms=megabytes * _WINDOW_MS_PER_MB,
            gpu=choice.backend.gpu,
            encoder=choice.encoder,
        )

    def close(self) -> None:
        """Give the model's memory back."""
        if self._backend is not None:
            self._backend.close()
        self._backend, self._loaded = None, None

    def _file(self, options: Options, tell: Tell) -> Path:
        """The model's file; the starter model is put in place when it is the one and came with the installation."""
        if options.backend == "fake":
            return Path()
        store, name = ModelStore(models_folder(self._data)), options.model
        if name == BASE.name and store.get(name) is None and starter_available():
            ensure_starter(store, tell)
        return store.resolve(name, tell)


def _check_task(options: Options, model: Path) -> None:
    """EngineError MODEL_CANNOT when a translation is asked of a model that was not trained to translate."""
    if options.task == "translate" and model != Path() and not read_model(model).hyper.can_translate:
        raise EngineError(Code.MODEL_CANNOT, "It was not trained to translate; medium and large-v3 were.")


def _stamp(model: Path) -> tuple[int, int]:
    """What changes when another file takes the same name."""
    if model == Path():
        return (0, 0)
    status = model.stat()
    return (status.st_size, status.st_mtime_ns)
