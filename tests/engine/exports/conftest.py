"""One transcript that holds what is hard to write down."""

from __future__ import annotations

import pytest

from engine.types import Phase, Segment, Timings, Transcript, Word


@pytest.fixture
def rich() -> Transcript:
    fellow = (
        Word(1_200, 1_450, " And", 0.91),
        Word(1_450, 1_800, " so,", 0.875),
        Word(2_100, 2_300, " my", 0.99),
        Word(2_300, 2_800, " fellow", None),
        Word(2_800, 3_900, " Americans,", 0.5),
        Word(5_100, 5_400, " ask", 0.97),
        Word(5_400, 6_000, " not", 0.98),
        Word(6_000, 6_000, " what", 0.4),
        Word(6_000, 7_200, " your", 0.98),
        Word(7_200, 7_900, " country", 0.98),
        Word(7_900, 8_600, " can", 0.98),
        Word(8_600, 8_900, " do", 0.98),
        Word(8_900, 9_200, " for", 0.98),
        Word(9_200, 10_900, " you.", 0.98),
    )
    return Transcript(
        source="Rede – “π” & <ça>.m4a",
        duration=370_000_000,
        language="en",
        model="base",
        backend="whispercpp",
        segments=(
            Segment(1_000, 11_000, "".join(word.text for word in fellow), fellow, "Anna <A> & B", "en", -0.25, None),
            Segment(11_000, 12_500, "「日本語、です」", speaker="太郎", language="ja"),
            Segment(12_400, 14_000, "まだ続く", speaker="太郎", language="ja"),
            Segment(14_000, 15_000, "שלום עולם (123)", language="he", flags=("repeats",)),
            Segment(16_000, 17_000, 'a --> b && <b>"bold"</b> &amp; it’s\n\n 42 \n1 --> 2', flags=()),
            Segment(17_000, 16_000, " 👩‍👩‍👧 👍🏽 e\u0301"),
            Segment(18_000, 19_000, "   "),
            Segment(
                360_000_000, 360_001_001, "A hundred hours later.", no_speech_prob=0.5, extra={"note": ["kept", None]}
            ),
            Segment(369_999_990, 380_000_000, "The end is cut off"),
        ),
        timings=Timings(12_345, 370_000_000, (Phase("encode", 9_000, 12),), {"weights": 147_000_000}, 400_000_000),
        extra={"editor": {"by": "someone", "zoom": 1.5}},
    )
