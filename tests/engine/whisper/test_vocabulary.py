"""Token ids are those that openai/whisper publishes (tokenizer.py, and the generation settings of its models)."""

from __future__ import annotations

from pathlib import Path

import _pywhispercpp as whispercpp
import pytest

from engine.folders import models_folder
from engine.models.ggml import GgmlModel, read_model
from engine.models.store import ModelStore
from engine.whisper.vocabulary import LANGUAGE_CODES, Vocabulary

# name: (multilingual, English only, large-v3)
PUBLISHED = {
    "end": (50257, 50256, 50257),
    "start": (50258, 50257, 50258),
    "translate": (50358, 50357, 50359),
    "transcribe": (50359, 50358, 50360),
    "previous": (50361, 50360, 50362),
    "no_speech": (50362, 50361, 50363),
    "no_timestamps": (50363, 50362, 50364),
    "first_timestamp": (50364, 50363, 50365),
}
SIZES = (51865, 51864, 51866)


def sized(size: int) -> Vocabulary:
    return Vocabulary([], size, size > 51864)


@pytest.mark.parametrize(("kind", "size"), list(enumerate(SIZES)), ids=["multilingual", "English", "large-v3"])
def test_special_tokens_have_their_published_numbers(kind: int, size: int) -> None:
    vocabulary = sized(size)
    assert {name: getattr(vocabulary, name) for name in PUBLISHED} == {n: ids[kind] for n, ids in PUBLISHED.items()}
    assert vocabulary.first_timestamp + 1501 == size


def test_languages_have_their_published_numbers() -> None:
    multilingual, large_v3 = sized(51865).languages, sized(51866).languages
    assert (len(multilingual), len(large_v3)) == (99, 100)
    assert (multilingual["en"], multilingual["zh"], multilingual["de"], multilingual["su"]) == (
        50259,
        50260,
        50261,
        50357,
    )
    assert "yue" not in multilingual
    assert large_v3["yue"] == 50358


def test_languages_are_in_the_order_of_whisper_cpp() -> None:
    order = [whispercpp.whisper_lang_str(number) for number in range(whispercpp.whisper_lang_max_id() + 1)]
    assert list(LANGUAGE_CODES) == order


def test_prompts_say_language_and_task_unless_the_model_knows_english_only() -> None:
    assert sized(51865).prompt("de", "transcribe") == (50258, 50261, 50359)
    assert sized(51865).prompt("de", "translate") == (50258, 50261, 50358)
    assert sized(51866).prompt("yue", "transcribe") == (50258, 50358, 50360)
    assert sized(51864).prompt("en", "transcribe") == (50257,)


def test_a_model_file_brings_its_words(tiny: GgmlModel, data_with_models: Path) -> None:
    base = read_model(ModelStore(models_folder(data_with_models)).path("base"))
    english, multilingual = Vocabulary.of(tiny), Vocabulary.of(base)
    assert (english.multilingual, multilingual.multilingual) == (False, True)
    # "Hello world" in GPT-2's numbers, and in Whisper's multilingual ones
    assert english.text([15496, 995]) == b"Hello world"
    assert multilingual.text([15947, 1002]) == b"Hello world"


def test_special_tokens_say_nothing(tiny: GgmlModel) -> None:
    v = Vocabulary.of(tiny)
    assert v.text([v.start, v.first_timestamp, 15496, v.first_timestamp + 50, v.end]) == b"Hello"
