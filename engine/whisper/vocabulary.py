"""Whisper's tokens: the special ones by arithmetic, the text ones by the model's own list of bytes.

Order of the special tokens as in openai/whisper, tokenizer.py: end, start, the languages, translate, transcribe,
start of a language model's text, previous text, no speech, no timestamps, then a timestamp each 20 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.models.ggml import GgmlModel
from engine.types import Task

_TIMESTAMPS = 1501  # <|0.00|> … <|30.00|>
LANGUAGE_CODES = (  # in the order of their tokens; the last came with large-v3
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml "
    "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am "
    "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue"
).split()


@dataclass(frozen=True)
class Vocabulary:
    """Token ids of one model."""

    words: Sequence[bytes]  # text tokens by id
    size: int
    multilingual: bool

    @classmethod
    def of(cls, model: GgmlModel) -> Vocabulary:
        """The vocabulary of a model file."""
        return cls(model.vocabulary, model.hyper.n_vocab, model.hyper.multilingual)

    @property
    def end(self) -> int:
        """<|endoftext|>; all text tokens are below it."""
        return 50_257 if self.multilingual else 50_256

    @property
    def start(self) -> int:
        """<|startoftranscript|>."""
        return self.end + 1

    @cached_property
    def languages(self) -> dict[str, int]:
        """Token of each language that the model knows."""
        return {code: self.start + 1 + number for number, code in enumerate(LANGUAGE_CODES[: self._language_count])}

    def language(self, token: int | None) -> str | None:
        """The code of a language's token; None for any other."""
        return next((code for code, number in self.languages.items() if number == token), None)

    @property
    def translate(self) -> int:
        """<|translate|>."""
        return self.start + 1 + self._language_count

    @property
    def transcribe(self) -> int:
        """<|transcribe|>."""
        return self.translate + 1

    @property
    def previous(self) -> int:
        """<|startofprev|>: text that came before."""
        return self.translate + 3

    @property
    def no_speech(self) -> int:
        """<|nospeech|>."""
        return self.translate + 4

    @property
    def no_timestamps(self) -> int:
        """<|notimestamps|>."""
        return self.translate + 5

    @property
    def first_timestamp(self) -> int:
        """<|0.00|>."""
        return self.translate + 6

    def prompt(self, language: str, task: Task) -> tuple[int, ...]:
        """What the decoder begins with; an English-only model has neither language nor task."""
        if not self.multilingual:
            return (self.start,)
        return (self.start, self.languages[language], self.translate if task == "translate" else self.transcribe)

    def text(self, tokens: Iterable[int]) -> bytes:
        """The bytes of the text tokens among `tokens`."""
        return b"".join(self.words[token] for token in tokens if token < self.end)

    @property
    def _language_count(self) -> int:
        return self.size - _TIMESTAMPS - 6 - self.start - 1
