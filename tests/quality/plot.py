"""Speed against errors as pictures, the same to the byte for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines import BATCHED, BATCHED_GREEDY, FASTER, OURS, WHISPERCPP, WHISPERCPP_INT8
from figures import Keep, Measured, everything
from targets import is_english, is_other

# Shape and colour by engine; told apart in grey and by colour-blind eyes too (colours of Okabe and Ito).
_LOOKS = {
    OURS: ("*", "#0072b2"),
    WHISPERCPP: ("o", "#d55e00"),
    WHISPERCPP_INT8: ("s", "#e69f00"),
    FASTER: ("^", "#009e73"),
    BATCHED: ("v", "#56b4e9"),
    BATCHED_GREEDY: ("D", "#cc79a7"),
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One set of axes: some of the files."""

    title: str
    keep: Keep


CLIPS = (Panel("Clips, English", is_english), Panel("Clips, other languages", is_other))
LONG = (Panel("Long recordings", everything),)


def draw(measured: Measured, panels: Sequence[Panel], path: Path) -> None:
    """Write an SVG of those panels that have files: to the right is faster, down is better."""
    import matplotlib as mpl  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    from matplotlib.figure import Figure  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    shown = [panel for panel in panels if any(panel.keep(file) for file in measured.files)]
    with mpl.rc_context({"svg.hashsalt": "sottovoce", "font.family": "DejaVu Sans", "font.size": 9}):
        figure = Figure(figsize=(4.2 * len(shown) + 2.4, 3.4), layout="constrained")
        for place, panel in enumerate(shown):
            _draw_panel(figure.add_subplot(1, len(shown), place + 1), measured, panel)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def _draw_panel(axes: Any, measured: Measured, panel: Panel) -> None:
    speeds = {name: measured.speed(name) for name in measured.runs}
    rates = {name: 100 * measured.pooled(name, panel.keep).rate for name in measured.runs}
    for name, speed in speeds.items():
        shape, colour = _LOOKS[name]
        size = 13 if name == OURS else 7
        axes.plot(speed, rates[name], shape, color=colour, markersize=size, label=name, alpha=0.85)
    axes.set(title=panel.title, xlabel="× real time", ylabel="errors, %")
    axes.set_xlim(0, max(speeds.values()) * 1.1)
    axes.set_ylim(0, max([1.0, *rates.values()]) * 1.25)
    axes.grid(color="#e4e6ea")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
