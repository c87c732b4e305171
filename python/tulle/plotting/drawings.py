"""Words, lines and dots of a picture, drawn as SVG and as pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import torch
from torch import Tensor

from tulle.plotting.lettering import WIDTH, lettering
from tulle.plotting.pictures import Picture, png, rgb, svg, text

SCALE = 2  # pixels of a PNG along one of SVG
_BASELINE = 7  # pixels of a letter above it


@dataclass(frozen=True)
class Words:
    """A line of text whose baseline has its beginning, middle or end at a place."""

    x: float
    y: float
    content: str
    anchor: str = "start"  # or "middle", "end"
    colour: str = "#000000"
    is_bold: bool = False
    is_turned: bool = False  # upwards

    def svg(self) -> str:
        style = f'text-anchor="{self.anchor}" fill="{self.colour}"'
        if self.is_bold:
            style += ' font-weight="bold"'
        if self.is_turned:
            style += f' transform="rotate(-90 {self.x:.1f} {self.y:.1f})"'
        return text(self.x, self.y, self.content, style)

    def draw(self, pixels: Tensor) -> None:
        ink = lettering(self.content, SCALE)
        if self.is_bold:
            ink[:, 1:] |= ink[:, :-1].clone()
        length = SCALE * (WIDTH * len(self.content) - 1)
        before = {"start": 0, "middle": length // 2, "end": length}[self.anchor]
        x, y = round(SCALE * self.x), round(SCALE * self.y)
        if self.is_turned:
            ink = ink.rot90()
            x, y = x - SCALE * _BASELINE, y + before - ink.shape[0]
        else:
            x, y = x - before, y - SCALE * _BASELINE
        rows, columns = (ink.nonzero() + torch.tensor([y, x])).T
        height, width, _ = pixels.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        pixels[rows[inside], columns[inside]] = torch.tensor(rgb(self.colour), dtype=torch.uint8)


@dataclass(frozen=True)
class Line:
    """From left to right, or downwards."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    is_dashed: bool = False

    def svg(self) -> str:
        dashes = ' stroke-dasharray="4 3"' if self.is_dashed else ""
        ends = f'x1="{self.x1:.1f}" y1="{self.y1:.1f}" x2="{self.x2:.1f}" y2="{self.y2:.1f}"'
        return f'<line {ends} stroke="{self.colour}"{dashes}/>'

    def draw(self, pixels: Tensor) -> None:
        left, top, right, bottom = (
            round(SCALE * place) for place in (self.x1, self.y1, self.x2, self.y2)
        )
        inked = torch.ones(max(right - left, bottom - top), dtype=torch.bool)
        if self.is_dashed:
            inked = torch.arange(len(inked)) % (7 * SCALE) < 4 * SCALE
        colour = torch.tensor(rgb(self.colour), dtype=torch.uint8)
        if bottom == top:
            pixels[top - 1 : top + 1, left:right][:, inked] = colour
        else:
            pixels[top:bottom, left - 1 : left + 1][inked] = colour


@dataclass(frozen=True)
class Dot:
    """A disc; with a ring around it, if it is to be seen first. `title` shows under a pointer."""

    x: float
    y: float
    colour: str
    is_ringed: bool = False
    title: str = ""

    def svg(self) -> str:
        ring = ' stroke="black" stroke-width="1.5"' if self.is_ringed else ""
        label = f"<title>{escape(self.title)}</title>" if self.title else ""
        return (
            f'<circle cx="{self.x:.1f}" cy="{self.y:.1f}" r="{5 if self.is_ringed else 4}" '
            f'fill="{self.colour}" fill-opacity="0.8"{ring}>{label}</circle>'
        )

    def draw(self, pixels: Tensor) -> None:
        x, y = SCALE * self.x, SCALE * self.y
        reach = 7 * SCALE
        left, top = max(0, round(x) - reach), max(0, round(y) - reach)
        area = pixels[top : round(y) + reach, left : round(x) + reach]
        rows = torch.arange(area.shape[0])[:, None] + top - y
        columns = torch.arange(area.shape[1]) + left - x
        distance = (rows**2 + columns**2).sqrt() / SCALE
        if self.is_ringed:
            area[distance <= 5.75] = 0
        area[distance <= (4.25 if self.is_ringed else 4)] = torch.tensor(
            rgb(self.colour), dtype=torch.uint8
        )


def picture(width: float, height: float, parts: Sequence[Words | Line | Dot]) -> Picture:
    """On white, what comes later over what comes before."""
    pixels = torch.full((SCALE * round(height), SCALE * round(width), 3), 255, dtype=torch.uint8)
    for part in parts:
        part.draw(pixels)
    return Picture(svg(width, height, [part.svg() for part in parts]), png(pixels))
