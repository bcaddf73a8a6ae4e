"""What a bench writes: raw figures that can be read again, a page that hides nothing, pictures that do not change."""

from __future__ import annotations

from pathlib import Path

import pytest
from engines import ON_CLIPS, ON_LONG, OURS
from figures import File, Measured, Runs
from machine import Machine
from plot import CLIPS, LONG, draw
from report import Results, read_results, write_results

MACHINE = Machine(
    "2026-11-30", "A processor", 2, ("avx2",), ("amx_int8",), "Linux x86_64", 0.1, {"numpy": "2.4"}, "abc"
)


@pytest.fixture
def results() -> Results:
    """Ours is fast, and wrong too often."""

    def measured(engines: tuple[str, ...]) -> Measured:
        files = tuple(File(f"{language}_{n}", language, 8.5, 1) for language in ("en", "de") for n in range(3))
        ours, theirs = Runs((1.0, 1.25), (9, 9), 20), Runs((50.0, 60.0), (1, 2), 20)
        runs = {name: (ours if name == OURS else theirs,) * len(files) for name in engines}
        return Measured(files, runs, dict.fromkeys(engines, 123_000_000))

    memory = {"two hours of silence, then words": 400_000_000}
    return Results(MACHINE, 2, measured(ON_CLIPS), measured(ON_LONG), memory)


def test_raw_figures_come_back_as_they_were(results: Results, tmp_path: Path) -> None:
    write_results(results, tmp_path)
    assert read_results(tmp_path / "results.json") == results


def test_the_page_names_every_engine_and_every_target(results: Results, tmp_path: Path) -> None:
    write_results(results, tmp_path)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert all(f"| {name} | " in page for name in ON_LONG)
    assert all(f"| {target.what} | {target.found} | " in page for target in results.targets())
    assert page.count("**NO**") == sum(not target.holds for target in results.targets()) > 0
    assert all(version in page for version in results.machine.versions.values())


def test_pictures_of_the_same_figures_are_the_same_to_the_byte(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="only the extra `bench` brings it")
    assert results.clips
    for name in ("one.svg", "two.svg"):
        draw(results.clips, CLIPS, tmp_path / name)
    one = (tmp_path / "one.svg").read_bytes()
    assert one == (tmp_path / "two.svg").read_bytes()
    assert b"<dc:date>" not in one


def test_a_picture_leaves_out_what_was_not_measured(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="only the extra `bench` brings it")
    assert results.long
    draw(results.long, (*LONG, *CLIPS), tmp_path / "three.svg")
    english = Measured(results.long.files[:3], {name: runs[:3] for name, runs in results.long.runs.items()}, {})
    draw(english, CLIPS, tmp_path / "english.svg")
    assert (tmp_path / "english.svg").stat().st_size < (tmp_path / "three.svg").stat().st_size
