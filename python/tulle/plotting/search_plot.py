"""The picture of a search: measured against predicted times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tulle.plotting.pictures import (
    COLOURS,
    GREY,
    Picture,
    check_file_name,
    new_figure,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 660, 400  # pixels without the legend
LEGEND_LINE = 20  # pixels
LETTER = 7.5  # the approximate width of a letter of the title and the legend in pixels
LONGEST_LABEL = 80  # letters
TICKS = (1, 2, 5)  # times powers of 10


@dataclass(frozen=True)
class Point:
    """A candidate that was measured."""

    predicted: float | None  # seconds; None: there is no estimate
    measured: float  # seconds
    formats: str
    is_best: bool


def plot(
    points: Sequence[Point],
    default: Point,
    expression: str,
    outcome: str,
    path: str | Path | None = None,
) -> Picture:
    """A dot for each candidate; its colour shows the formats, and the best have a ring. `default`
    is the planned schedule, whose time is a dashed line. With `path` the picture is written to that
    file."""
    if path is not None:
        check_file_name(path)
    # Candidates without an estimate have no place unless there are no others.
    shown = [one for one in points if one.predicted] or list(points)
    by_formats: dict[str, list[Point]] = {default.formats: []}
    for one in shown:
        by_formats.setdefault(one.formats, []).append(one)
    longest = min(LONGEST_LABEL, max(map(len, [*by_formats, "planned by rule"])))
    in_line = max(1, int(WIDTH / (LETTER * longest + 40)))
    lines = -(-(len(by_formats) + 2) // in_line)
    figure = new_figure(WIDTH, HEIGHT + LEGEND_LINE * lines)
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    axes = figure.add_subplot()
    _draw(axes, by_formats)
    axes.axhline(1e3 * default.measured, color=GREY, linestyle="--", label="planned by rule")
    room = int(WIDTH / LETTER) - len(outcome) - 20
    text = "; ".join(line.strip() for line in expression.splitlines() if line.strip())
    title = f"{shortened(text, room)}: {len(shown)} measured, {outcome}"
    figure.suptitle(title, weight="bold", size=10)
    figure.legend(loc="outside lower left", ncols=in_line, fontsize=9, frameon=False)
    figure.draw_without_rendering()  # computes the layout, which stays fixed
    figure.set_layout_engine("none")
    picture = Picture(figure)
    return picture if path is None else picture.save(path)


def _draw(axes: Axes, by_formats: dict[str, list[Point]]) -> None:
    """The dots and the axes, both logarithmic."""
    from matplotlib.ticker import LogLocator

    everything = [one for several in by_formats.values() for one in several]
    guess = max((one.predicted or 0 for one in everything), default=0) or 1e-3
    for number, (formats, several) in enumerate(by_formats.items()):
        axes.scatter(
            [1e3 * (one.predicted or guess) for one in several],
            [1e3 * one.measured for one in several],
            color=COLOURS[number % len(COLOURS)],
            alpha=0.8,
            zorder=2,
            label=shortened(formats or "dense", LONGEST_LABEL),
        )
    best = [one for one in everything if one.is_best]
    axes.scatter(
        [1e3 * (one.predicted or guess) for one in best],
        [1e3 * one.measured for one in best],
        s=70,
        facecolors="none",
        edgecolors="black",
        zorder=3,
        label="best",
    )
    axes.set(xscale="log", yscale="log", xlabel="predicted, ms", ylabel="measured, ms")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=TICKS))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    axes.tick_params(colors=GREY, labelsize=9)
    axes.grid(color="#eeeeee", zorder=0)
