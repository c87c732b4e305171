"""The chart of a run: a panel for each suite and number of threads, dots for each case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness import Row
from report import threads_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ["#d1495b", "#edae49", "#00798c", "#30638e", "#8a5a83", "#5b8c5a", "#7a6c5d"]
TICKS = [0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 8.0, 16.0, 32.0]
WIDTH = 8.0  # inches
CASE, HEAD = 0.17, 1.0  # height of a case, and of a panel beside its cases


def write(path: Path, titles: dict[str, str], rows_of: dict[str, list[Row]]) -> None:
    """Writes the chart. Only suites with ratios have a panel. Needs matplotlib."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = _panels(titles, rows_of)
    if not panels:
        return
    heights = [HEAD + CASE * len(rows) for _, rows in panels]
    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    grid = figure.subplots(len(panels), height_ratios=heights, squeeze=False)
    for axes, (title, rows) in zip(grid[:, 0], panels, strict=True):
        _draw(axes, title, rows)
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(path)


def _panels(titles: dict[str, str], rows_of: dict[str, list[Row]]) -> list[tuple[str, list[Row]]]:
    """The title and the rows of each panel."""
    panels = []
    for suite, rows in rows_of.items():
        for threads in sorted({row.threads for row in rows}, key=lambda number: number or 0):
            shown = [row for row in rows if row.threads == threads and len(row.times) > 1]
            if shown:
                parts = (titles[suite], threads_of(shown[0]))
                panels.append((", ".join(filter(None, parts)), shown))
    return panels


def _draw(axes: Axes, title: str, rows: Sequence[Row]) -> None:
    """A line for each case with a dot for each peer; the axis of ratios is logarithmic."""
    peers = [name for name in rows[0].times if rows[0].ratio(name) is not None]
    base = rows[0].base(peers[0]).split()[0]
    for number, peer in enumerate(peers):
        found = [(ratio, at) for at, row in enumerate(rows) if (ratio := row.ratio(peer))]
        colour = COLOURS[number % len(COLOURS)]
        axes.scatter(
            *zip(*found, strict=True), s=24, color=colour, alpha=0.85, label=peer, zorder=2
        )
    ratios = [ratio for row in rows for peer in peers if (ratio := row.ratio(peer))]
    low, high = min([0.8, *ratios]) / 1.08, max([1.25, *ratios]) * 1.08
    axes.set_title(
        f"{title}: time of a peer / {base}'s", loc="left", size=10, weight="bold", pad=30
    )
    axes.set(xscale="log", xlim=(low, high), ylim=(len(rows) - 0.5, -0.5))
    axes.set_xticks([tick for tick in TICKS if low <= tick <= high], minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(rows)), [" ".join(row.case.split()) for row in rows])
    axes.tick_params(labelsize=8, length=0)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color="#dddddd")
    axes.axvline(1, color="#555555", linewidth=1, zorder=1.5)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=len(peers), fontsize=8, frameon=False
    )
