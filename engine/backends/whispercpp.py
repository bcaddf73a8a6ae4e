"""whisper.cpp through pywhispercpp's low-level module, where every return code can be seen.

`Model.transcribe` of the same package is not used: it takes an abort, a truncated model and audio below
100 ms alike for "no text". One window is one `whisper_full` call with `single_segment`: the segments are
cut here, at the timestamp tokens, so that a window is encoded once and its bytes are joined before decoding.
"""

from __future__ import annotations

import atexit
import os
import re
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

# OpenMP's threads spin while they wait, by default so long that beside another busy program whisper.cpp takes three to
# eight times its time. A thousand rounds cost nothing on an idle machine, where sleeping at once costs 10 %. To be said
# before the library is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import _pywhispercpp as cpp
import numpy as np

from engine.backends.cpu import threads_for
from engine.errors import Code, EngineError
from engine.memory import check_memory
from engine.models.ggml import read_model
from engine.models.ggml_types import GgmlType
from engine.types import SAMPLE_RATE, OperatorTime, Options, Phase, Segment
from engine.whisper.segments import segments_from_tokens
from engine.whisper.words import Token

if TYPE_CHECKING:
    from engine.types import Samples

MS_PER_TICK = 10  # whisper.cpp's own unit
_POSITIONS = 1_500  # of the encoder, for 30 s
_FEWEST_POSITIONS = 640  # from 512 down shorter encoders change the words
_SHORTEST = SAMPLE_RATE  # below 100 ms whisper.cpp gives nothing; a second of padding costs nothing
_BUFFER = re.compile(
    r"whisper_\w+:\s+(model|kv (?:self|cross|pad)|compute buffer \(\w+\))\s*(?:size)?\s*=\s*([\d.]+) MB"
)
_TIMING = re.compile(r"whisper_print_timings:\s+(\w+) time =\s*([\d.]+) ms(?: /\s*(\d+) runs)?")
_COREML_LOADED = "Core ML model loaded"  # it says; a failure to load the encoder is otherwise passed over
_GPU = re.compile(r"using (\S+) backend")
_PHASE_NAMES = {name: name for name in ("mel", "encode", "decode", "sample")} | {"batchd": "decode", "prompt": "decode"}

_log: deque[str] = deque(maxlen=400)


class WhisperCpp:
    """A model loaded by whisper.cpp; see `engine.backends.base.Backend`."""

    name = "whispercpp"
    batch = 1

    def __init__(self, model: Path, use_gpu: bool, threads: int, neural: bool = False) -> None:
        """Load `model`, an absolute path that was read through before (a text file would crash later).

        `neural`: a compiled Core ML encoder lies beside it and is to be used, which a build without Core ML cannot.

        EngineError OUT_OF_MEMORY, MODEL_CANNOT for a file of float32 only, BACKEND_FAILED.
        """
        check_weights(model)
        check_memory(model.stat().st_size * 4 // 3)  # the file, and about a third of it for caches and buffers
        _keep_log()
        parameters = cpp.whisper_context_default_params()
        parameters.use_gpu = use_gpu
        _log.clear()
        context = cpp.whisper_init_from_file_with_params(str(model), parameters)
        if context is None:
            raise EngineError(Code.BACKEND_FAILED, f"whisper.cpp could not load the model: {_last_words()}")
        if neural and _COREML_LOADED not in "".join(_log):
            cpp.whisper_free(context)
            raise EngineError(Code.BACKEND_FAILED, f"whisper.cpp did not load the Core ML encoder: {_last_words()}")
        self._context = context
        self._threads = threads_for(threads)
        self._buffers = _buffers_in(_log)
        self.device, self.gpu = _device_in(_log, use_gpu)
        self._neural = neural
        if neural:
            self.device = f"Neural Engine (Core ML) and {self.device}"
        self.can_switch = False  # it would encode every window twice
        self.multilingual = bool(cpp.whisper_is_multilingual(context))
        self._first_timestamp = cpp.whisper_token_beg(context)
        self._first_special = cpp.whisper_token_eot(context)

    def decode(
        self,
        batch: Sequence[Samples],
        options: Options,
        speech: Sequence[int] = (),  # noqa: ARG002
    ) -> list[list[Segment]]:
        """Segments of each window, with words; see `Backend.decode`."""
        return [self._decode(samples, options) for samples in batch]

    def draft(self, samples: Samples, options: Options) -> list[Segment]:
        """Segments of one window, the first that come; the encoder sees little more than the window.

        That of Core ML sees all 30 s: given less, it fails without a word, and what comes is "[Music]".
        """
        context = 0 if self._neural else _draft_context(len(samples))
        return self._decode(samples, options, audio_ctx=context, temperature_inc=0.0)

    def _decode(self, samples: Samples, options: Options, **changes: float) -> list[Segment]:
        code = cpp.whisper_lang_id(options.language)
        if code < 0:
            raise EngineError(Code.BACKEND_FAILED, f"whisper.cpp knows no language {options.language!r}.")
        audio = _padded(samples)
        parameters = parameters_for(options, self._threads)
        for name, value in changes.items():
            setattr(parameters, name, value)
        result = cpp.whisper_full(self._context, parameters, audio, len(audio))
        if result != 0:
            raise EngineError(Code.BACKEND_FAILED, f"whisper_full gave {result}: {_last_words()}")
        tokens = [(token.id, self._token(token)) for token in self._tokens()]
        window = len(samples) * 1000 // SAMPLE_RATE
        return segments_from_tokens(tokens, self._first_timestamp, self._first_special, window, options.language)

    def detect_language(self, samples: Samples) -> tuple[str, float]:
        """Language code and probability; costs one pass of the encoder."""
        audio = _padded(samples)
        if cpp.whisper_pcm_to_mel(self._context, audio, len(audio), self._threads) != 0:
            raise EngineError(Code.BACKEND_FAILED, f"no spectrum: {_last_words()}")
        probabilities = np.zeros(cpp.whisper_lang_max_id() + 1, np.float32)
        best = cpp.whisper_lang_auto_detect(self._context, 0, self._threads, probabilities)
        if best < 0:
            raise EngineError(Code.BACKEND_FAILED, f"no language: {_last_words()}")
        return cpp.whisper_lang_str(best), float(probabilities[best])

    def phases(self) -> tuple[Phase, ...]:
        """mel, encode, decode and sample, as whisper.cpp's own table has them."""
        _log.clear()
        cpp.whisper_print_timings(self._context)
        total: dict[str, Phase] = {}
        for name, ms, runs in _timings_in(_log):
            before = total.get(name, Phase(name, 0, 0))
            total[name] = Phase(name, before.ms + ms, before.runs + runs)
        return tuple(total.values())

    def reset_phases(self) -> None:
        """Begin a new timing table."""
        cpp.whisper_reset_timings(self._context)

    def operators(self) -> tuple[OperatorTime, ...]:
        """whisper.cpp does not tell."""
        return ()

    def buffers(self) -> Mapping[str, int]:
        """Bytes of weights, KV caches and compute buffers, from whisper.cpp's load log."""
        return self._buffers

    def close(self) -> None:
        """Free the model."""
        cpp.whisper_free(self._context)

    def _tokens(self) -> list[cpp.whisper_token_data]:
        return [
            cpp.whisper_full_get_token_data(self._context, segment, token)
            for segment in range(cpp.whisper_full_n_segments(self._context))
            for token in range(cpp.whisper_full_n_tokens(self._context, segment))
        ]

    def _token(self, token: cpp.whisper_token_data) -> Token:
        text = cpp.whisper_token_to_bytes(self._context, token.id)
        return Token(text, token.t0 * MS_PER_TICK, token.t1 * MS_PER_TICK, token.p, token.plog)


def _draft_context(samples: int) -> int:
    """The encoder's positions for a draft: the window and 5 s of silence, and no fewer than leave most words alone."""
    return min(_POSITIONS, max(_FEWEST_POSITIONS, (samples + 5 * SAMPLE_RATE) * _POSITIONS // (30 * SAMPLE_RATE)))


def parameters_for(options: Options, threads: int) -> cpp.whisper_full_params:
    """whisper.cpp's parameters with every option set explicitly, also 0, False and ""."""
    strategy = cpp.whisper_sampling_strategy(1 if options.beam > 1 else 0)
    parameters = cpp.whisper_full_default_params(strategy)
    for name, value in parameter_values(options, threads).items():
        setattr(parameters, name, value)
    return parameters


def parameter_values(options: Options, threads: int) -> dict[str, Any]:
    """The values by whisper.cpp's names. What is not an option of ours keeps Whisper's published thresholds.

    `suppress_regex` is left alone: set to "", it is matched against all 51,865 words of the vocabulary at each token.
    """
    return {
        "n_threads": threads,
        "language": options.language,
        "detect_language": False,
        "translate": options.task == "translate",
        "initial_prompt": options.prompt,
        "n_max_text_ctx": 224,  # half of Whisper's text context: all of a prompt that can be used
        "no_context": True,  # what a window may know of the one before is in the prompt
        "carry_initial_prompt": False,
        "single_segment": True,
        "no_timestamps": False,
        "token_timestamps": True,
        "max_len": 0,
        "max_tokens": 0,
        "split_on_word": False,
        "audio_ctx": 0,  # all 30 s: what is stored is to be what Whisper says
        "temperature": options.temperature,
        "temperature_inc": 0.2,
        "entropy_thold": 2.4,
        "logprob_thold": -1.0,
        "no_speech_thold": 0.6,
        "suppress_blank": True,
        "suppress_nst": False,
        "greedy": {"best_of": 5},
        "beam_search": {"beam_size": options.beam if options.beam > 1 else -1, "patience": -1.0},
        "offset_ms": 0,
        "duration_ms": 0,
        "tdrz_enable": False,
        "vad": False,
        "print_progress": False,
        "print_realtime": False,
        "print_special": False,
        "print_timestamps": False,
        "debug_mode": False,
    }


def gpu_in_build() -> bool:
    """Whether this build of ggml has a device besides the CPU; asks no driver."""
    parts = cpp.whisper_print_system_info().split("|")
    names = {part.split(":")[0].strip() for part in parts if ":" in part}
    return bool(names - {"WHISPER", "CPU", "BLAS", "COREML"})


def coreml_in_build() -> bool:
    """Whether this build of whisper.cpp can take its encoder from Core ML; the published wheels cannot."""
    return "COREML = 1" in cpp.whisper_print_system_info()


def check_weights(model: Path) -> None:
    """EngineError MODEL_CANNOT for what whisper.cpp loads but aborts on: its convolutions take float16 kernels only."""
    if read_model(model).hyper.weight_type is GgmlType.F32:
        raise EngineError(Code.MODEL_CANNOT, "whisper.cpp does not run float32 files; “--backend onnx” does.")


def _keep_log() -> None:
    """Take ggml's log; give it back before the interpreter ends, or its last line calls into a dead one."""
    cpp.whisper_log_set(lambda _level, text: _log.append(text))
    atexit.register(cpp.whisper_log_set, None)


def _last_words() -> str:
    lines = "".join(_log).strip().splitlines()
    return " / ".join(line.strip() for line in lines[-3:]) or "it did not say why"


def _padded(samples: Samples) -> Samples:
    if len(samples) >= _SHORTEST:
        return np.ascontiguousarray(samples, np.float32)
    return np.concatenate([samples, np.zeros(_SHORTEST - len(samples), np.float32)])


def _device_in(log: deque[str], use_gpu: bool) -> tuple[str, bool]:
    """What ggml took, in words for people, and whether it is a GPU."""
    found = _GPU.search("".join(log))
    if found:
        name = found[1]
        return ("Metal" if name.upper().startswith(("MTL", "METAL")) else name), True
    if not use_gpu:
        return "CPU", False
    return ("CPU: no GPU was found" if gpu_in_build() else "CPU: no GPU in this build"), False


def _buffers_in(log: deque[str]) -> dict[str, int]:
    names = {"model": "weights", "kv self": "self KV", "kv cross": "cross KV", "kv pad": "pad KV"}
    found: list[tuple[str, str]] = _BUFFER.findall("".join(log))
    return {names.get(name, name.replace(" buffer", "")): round(float(size) * 1e6) for name, size in found}


def _timings_in(log: deque[str]) -> list[tuple[str, int, int]]:
    """(our name, milliseconds, runs) of each line; whisper.cpp prints 1 run where there was none."""
    found: list[tuple[str, str, str]] = _TIMING.findall("".join(log))
    return [
        (_PHASE_NAMES[name], round(float(ms)), int(runs or 1))
        for name, ms, runs in found
        if name in _PHASE_NAMES and float(ms) > 0
    ]


def try_gpu(model: Path) -> bool:
    """Decode a second of silence on the GPU; False when ggml took none. A bad driver ends the process instead."""
    backend = WhisperCpp(model, use_gpu=True, threads=0)
    backend.decode([np.zeros(SAMPLE_RATE, np.float32)], Options(language="en"))
    return backend.gpu
