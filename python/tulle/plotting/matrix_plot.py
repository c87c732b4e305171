"""The picture of the entries of a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tulle.plotting.pictures import (
    COLOURS,
    DOTS_PER_INCH,
    GREY,
    Picture,
    check_file_name,
    new_figure,
    rgb,
)
from tulle.support.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FAINTEST = 0.6  # the strength of the colour of a single entry in a large cell
# Pixels around the matrix.
LEFT, RIGHT, BOTTOM, TITLE, LEGEND_LINE = 60, 30, 40, 40, 20
PIXEL = 72 / DOTS_PER_INCH  # in points
LETTER = 8  # the approximate width of a letter in pixels
TICK_DISTANCE = 60  # the least number of pixels between ticks


def plot(
    parts: Mapping[str, Tensor],
    shape: tuple[int, int],
    nnz: int,
    path: str | Path | None = None,
    size: int = 480,
) -> Picture:
    """The entries of a matrix, at most `size` pixels high and wide. `parts` has the coordinates of
    each part by its label. A pixel with more entries has a stronger colour. With `path` the picture
    is written to that file."""
    if not isinstance(size, int) or size < 1:
        raise UserError(f"plot: size should be a number of pixels above 0, but found {size!r}.")
    if path is not None:
        check_file_name(path)
    height, width = (max(1, min(size, extent)) for extent in shape)
    colours = _cell_colours(list(parts.values()), shape, height, width)
    scale = max(1, size // max(height, width))
    title = f"{shape[0]} x {shape[1]}, {nnz} entries"
    picture = Picture(_figure(title, list(parts), shape, colours, scale))
    return picture if path is None else picture.save(path)


def _cell_colours(
    parts: Sequence[Tensor], shape: tuple[int, int], height: int, width: int
) -> Tensor:
    """The colours of a grid of cells that covers the matrix, [height, width, 3] from 0 to 1. Each
    part has a colour; where parts meet, their colours mix."""
    colours = torch.ones(height, width, 3)
    white = torch.ones(height, width, 1)  # the share of white in the colour
    elements = max(1.0, shape[0] / height * shape[1] / width)  # in a cell
    for number, coordinates in enumerate(parts):
        rows = (coordinates[0].cpu() * height).div(max(1, shape[0]), rounding_mode="floor")
        columns = (coordinates[1].cpu() * width).div(max(1, shape[1]), rounding_mode="floor")
        counts = torch.bincount(rows * width + columns, minlength=height * width)
        share = counts.reshape(height, width, 1) / elements
        strength = torch.where(share > 0, FAINTEST + (1 - FAINTEST) * share.clamp(max=1).sqrt(), 0)
        colours -= white * strength * (1 - torch.tensor(rgb(_colour(number))))
        white *= 1 - strength
    return colours.clamp(0, 1)


def _colour(part: int) -> str:
    return COLOURS[part % len(COLOURS)]


def _figure(
    title: str, labels: Sequence[str], shape: tuple[int, int], colours: Tensor, scale: int
) -> Figure:
    """The cells, each with `scale` pixels along both axes, below the title and a line for each
    part."""
    height, width = (scale * extent for extent in colours.shape[:2])
    longest = max(map(len, [title, *labels]))
    whole_width = LEFT + max(width + RIGHT, LETTER * longest + LEGEND_LINE)
    top = TITLE + LEGEND_LINE * len(labels)
    whole_height = top + height + BOTTOM
    figure = new_figure(whole_width, whole_height)
    axes = figure.add_axes(
        (LEFT / whole_width, BOTTOM / whole_height, width / whole_width, height / whole_height)
    )
    ends = (0, max(1, shape[1]), max(1, shape[0]), 0)
    axes.imshow(colours.numpy(), extent=ends, aspect="auto", interpolation="nearest")
    for axis, pixels, extent in ((axes.xaxis, width, ends[1]), (axes.yaxis, height, ends[2])):
        _set_ticks(axis, pixels, extent)
    for spine in axes.spines.values():  # the frame, one pixel wide, around the cells
        spine.set(position=("outward", PIXEL), linewidth=PIXEL)
    axes.tick_params(colors=GREY, labelsize=9)
    handles = [
        axes.plot([], [], "s", color=_colour(number), markersize=8, label=label)[0]
        for number, label in enumerate(labels)
    ]
    corner = (0, 1 + 4 / height)
    options = {"frameon": False, "borderaxespad": 0, "borderpad": 0.2, "handletextpad": 0.2}
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=corner, fontsize=9, **options)
    figure.text(LEFT / whole_width, 1 - 14 / whole_height, title, weight="bold", va="top", size=10)
    return figure


def _set_ticks(axis: Axis, pixels: int, extent: int) -> None:
    """Ticks at integers, as many as fit; at the end of a short axis only."""
    from matplotlib.ticker import MaxNLocator

    if pixels < TICK_DISTANCE:
        axis.set_ticks([extent])
    else:
        axis.set_major_locator(MaxNLocator(min(9, pixels // TICK_DISTANCE), integer=True))
