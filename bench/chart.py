"""The chart of a run as SVG: a panel for each suite and number of threads, dots for each case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from harness import Row
from report import threads_of

COLOURS = ["#d1495b", "#edae49", "#00798c", "#30638e", "#8a5a83", "#5b8c5a", "#7a6c5d"]
TICKS = [0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 8.0, 16.0, 32.0]
LINE = 15  # height of a case
LABELS = 190  # width of the names of the cases
PLOT = 520  # width of a panel's dots
TOP = 62  # title and legend of a panel


def _text(x: float, y: float, content: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(content)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}"/>'


class _Scale:
    """Ratios to horizontal places, logarithmic, with a little room at both ends."""

    def __init__(self, ratios: Sequence[float]) -> None:
        self._low = math.log(min([0.8, *ratios]) / 1.08)
        self._high = math.log(max([1.25, *ratios]) * 1.08)

    def __call__(self, ratio: float) -> float:
        return LABELS + PLOT * (math.log(ratio) - self._low) / (self._high - self._low)

    def ticks(self) -> list[float]:
        return [tick for tick in TICKS if self._low <= math.log(tick) <= self._high]


def _legend(peers: Sequence[str], y: float) -> list[str]:
    parts, x = [], float(LABELS)
    for at, peer in enumerate(peers):
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y - 4:.1f}" r="4" fill="{COLOURS[at % len(COLOURS)]}"/>'
        )
        parts.append(_text(x + 8, y, peer))
        x += 24 + 6.5 * len(peer)
    return parts


def _panel(title: str, rows: Sequence[Row], top: float) -> tuple[list[str], float]:
    """The elements of one panel and its height."""
    peers = [name for name in rows[0].times if rows[0].ratio(name) is not None]
    base = rows[0].base(peers[0]).split()[0]
    found = [[row.ratio(peer) for peer in peers] for row in rows]
    scale = _Scale([ratio for line in found for ratio in line if ratio is not None])
    first, bottom = top + TOP, top + TOP + LINE * len(rows)
    parts = [_text(8, top + 18, f"{title}: time of a peer / {base}'s", 'font-weight="bold"')]
    parts += _legend(peers, top + 38)
    for tick in scale.ticks():
        x = scale(tick)
        parts.append(_line(x, first - 4, x, bottom, "#555" if tick == 1 else "#ddd"))
        parts.append(_text(x, first - 8, f"{tick:g}", 'text-anchor="middle" fill="#555"'))
    for at, (row, line) in enumerate(zip(rows, found, strict=True)):
        y = first + LINE * (at + 0.5)
        parts.append(_text(8, y + 4, " ".join(row.case.split())))
        for which, ratio in enumerate(line):
            if ratio is not None:
                colour = COLOURS[which % len(COLOURS)]
                place = f'cx="{scale(ratio):.1f}" cy="{y:.1f}"'
                parts.append(f'<circle {place} r="4" fill="{colour}" fill-opacity="0.85"/>')
    return parts, bottom - top + 16


def draw(titles: dict[str, str], rows_of: dict[str, list[Row]]) -> str:
    """The whole picture, a panel for each number of threads; without ratios a suite has none."""
    parts: list[str] = []
    top = 8.0
    for suite, rows in rows_of.items():
        for threads in sorted({row.threads for row in rows}, key=lambda number: number or 0):
            shown = [row for row in rows if row.threads == threads and len(row.times) > 1]
            if shown:
                title = ", ".join(filter(None, (titles[suite], threads_of(shown[0]))))
                panel, height = _panel(title, shown, top)
                parts += panel
                top += height
    width = LABELS + PLOT + 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top:.0f}" '
        f'font-family="sans-serif" font-size="11">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])
