"""The (layer, head) pairs of each Whisper whose cross attention follows the audio.

Two kinds. Onset heads look at the first sound of the word that comes next, to 20 ms; which they are was measured
(`tests/quality/onset_heads.py`) for the models that were at hand. For all others there are the masks that
openai/whisper publishes with its models (`_ALIGNMENT_HEADS` in whisper/__init__.py), as whisper.cpp lists them: they
follow the sound roughly. A ggml file does not say which model it is; its sizes do, except for the three "large".
"""

from __future__ import annotations

from engine.models.whisper_layout import Hyperparameters

Heads = tuple[tuple[int, int], ...]

_LAYERS_TURBO = 4
_LARGE_V3_VOCAB = 51_866


def _heads(text: str) -> Heads:
    return tuple((int(layer), int(head)) for layer, head in (pair.split(".") for pair in text.split()))


# By (width, multilingual): each head and how many positions of 20 ms behind a word's beginning it looks. Each of them
# alone is off by 16 to 23 ms in the median over 363 words; of the published heads of tiny.en none is better than 40.
_ONSETS: dict[tuple[int, bool], tuple[tuple[tuple[int, int], int], ...]] = {
    (384, False): (((1, 5), 3), ((2, 1), 3), ((2, 4), -1)),
    (512, True): (((3, 1), 3), ((4, 2), 0), ((5, 1), 3)),
}
_BY_SIZE: dict[tuple[int, bool], Heads] = {  # (width, multilingual)
    (384, False): _heads("1.0 2.0 2.5 3.0 3.1 3.2 3.3 3.4"),
    (384, True): _heads("2.2 3.0 3.2 3.3 3.4 3.5"),
    (512, False): _heads("3.3 4.7 5.1 5.5 5.7"),
    (512, True): _heads("3.1 4.2 4.3 4.7 5.1 5.2 5.4 5.6"),
    (768, False): _heads("6.6 7.0 7.3 7.8 8.2 8.5 8.7 9.0 9.4 9.8 9.10 10.0 10.1 10.2 10.3 10.6 10.11 11.2 11.4"),
    (768, True): _heads("5.3 5.9 8.0 8.4 8.7 8.8 9.0 9.7 9.9 10.5"),
    (1024, False): _heads(
        "11.4 14.1 14.12 14.14 15.4 16.0 16.4 16.9 17.12 17.14 18.7 18.10 18.15 20.0 20.3 20.9 20.14 21.12"
    ),
    (1024, True): _heads("13.15 15.4 15.15 16.1 20.0 23.4"),
}
_LARGE_V2 = _heads(
    "10.12 13.17 16.11 16.12 16.13 17.15 17.16 18.4 18.11 18.19 19.11 21.2 21.3 22.3 22.9 22.12 23.5 23.7 23.13 "
    "25.5 26.1 26.12 27.15"
)
_LARGE_V3 = _heads("7.0 10.17 12.18 13.12 16.1 17.14 19.11 21.4 24.1 25.6")
_TURBO = _heads("2.4 2.11 3.3 3.6 3.11 3.14")


def alignment_heads(hyper: Hyperparameters) -> Heads:
    """The heads of a model of these sizes; for one that OpenAI did not publish, all heads of the upper half."""
    if onsets := _onsets(hyper):
        return tuple(head for head, _ in onsets)
    known = _BY_SIZE.get((hyper.n_text_state, hyper.multilingual), ())
    if hyper.n_text_layer == _LAYERS_TURBO and hyper.n_audio_layer > _LAYERS_TURBO:
        known = _TURBO
    elif not known:
        known = _LARGE_V3 if hyper.n_vocab == _LARGE_V3_VOCAB else _LARGE_V2
    if all(layer < hyper.n_text_layer and head < hyper.n_text_head for layer, head in known):
        return known
    layers = range(hyper.n_text_layer // 2, hyper.n_text_layer)
    return tuple((layer, head) for layer in layers for head in range(hyper.n_text_head))


def onset_lags(hyper: Hyperparameters) -> tuple[int, ...]:
    """For each of the `alignment_heads` how many positions behind a word's beginning it looks, if they are onset heads.

    Nothing for a model whose onset heads are not known.
    """
    return tuple(lag for _, lag in _onsets(hyper))


def _onsets(hyper: Hyperparameters) -> tuple[tuple[tuple[int, int], int], ...]:
    known = _ONSETS.get((hyper.n_text_state, hyper.multilingual), ())
    fits = all(layer < hyper.n_text_layer and head < hyper.n_text_head for (layer, head), _ in known)
    return known if fits else ()
