"""Whisper's words as bytes, from the `tokenizer.json` that comes with faster-whisper and Hugging Face models."""

from __future__ import annotations

import msgspec

from engine.models.ctranslate2 import failed
from engine.models.whisper_layout import TEXT_TOKENS


class _Words(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    model: _Words


def read_vocabulary(tokenizer: bytes) -> list[bytes]:
    """Return the 50,257 words in the order of their numbers; IMPORT_FAILED when one is missing."""
    try:
        words = msgspec.json.decode(tokenizer, type=_Tokenizer).model.vocab
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise failed(f"tokenizer.json cannot be understood ({error})") from error
    by_number = {number: word for word, number in words.items()}
    letters = _byte_letters()
    try:
        return [bytes(letters[letter] for letter in by_number[number]) for number in range(TEXT_TOKENS)]
    except KeyError as error:
        raise failed(f"tokenizer.json is not Whisper's: it lacks {error}") from error


def _byte_letters() -> dict[str, int]:
    """GPT-2's spelling of bytes as letters: what prints stands for itself, the rest for letters from 256 on."""
    printing = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    rest = [byte for byte in range(256) if byte not in printing]
    return {chr(byte): byte for byte in printing} | {chr(256 + place): byte for place, byte in enumerate(rest)}
