"""Pictures: figures of matplotlib that show themselves in a notebook and are saved to a file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from tulle.support.errors import UserError, missing_package

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 100  # one dot is a pixel of a PNG
COLOURS = ["#30638e", "#d1495b", "#edae49", "#00798c", "#8a5a83", "#5b8c5a", "#7a6c5d"]
GREY = "#555555"
_SUFFIXES = (".svg", ".png")


def check_file_name(path: str | Path) -> None:
    """Raises UserError unless the name ends in .svg or .png."""
    if Path(path).suffix.lower() not in _SUFFIXES:
        raise UserError(
            f"plot: the name of the file should end in {' or '.join(_SUFFIXES)}: '{path}' does not."
        )


def check_matplotlib() -> None:
    """Raises UserError if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        install = "matplotlib, which the extra tulle[plot] includes"
        raise missing_package("plot", "matplotlib", install) from None


def new_figure(width: float, height: float) -> Figure:
    """An empty figure with that many pixels."""
    check_matplotlib()
    from matplotlib.figure import Figure

    size = (width / DOTS_PER_INCH, height / DOTS_PER_INCH)
    return Figure(figsize=size, dpi=DOTS_PER_INCH)


class Picture:
    """A figure of matplotlib, which a notebook shows."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    @property
    def svg(self) -> str:
        """The picture as SVG. Equal pictures have equal text."""
        import matplotlib

        # Words stay text; identifiers and metadata do not depend on the time.
        settings = {"svg.fonttype": "none", "svg.hashsalt": "tulle"}
        with matplotlib.rc_context(settings), io.StringIO() as file:
            self.figure.savefig(file, format="svg", metadata={"Date": None})
            return file.getvalue()

    @property
    def png(self) -> bytes:
        """The picture as PNG."""
        with io.BytesIO() as file:
            self.figure.savefig(file, format="png")
            return file.getvalue()

    def save(self, path: str | Path) -> Picture:
        """Writes the picture to a file whose name ends in .svg or .png."""
        check_file_name(path)
        if Path(path).suffix.lower() == ".png":
            Path(path).write_bytes(self.png)
        else:
            Path(path).write_text(self.svg, encoding="utf-8")
        return self

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        width, height = self.figure.get_size_inches() * self.figure.dpi
        return f"tulle.Picture({width:.0f} x {height:.0f} pixels; save(path) writes it)"


def rgb(colour: str) -> tuple[float, ...]:
    """The shares of red, green and blue in a colour such as "#30638e"."""
    return tuple(value / 255 for value in bytes.fromhex(colour.removeprefix("#")))


def shortened(text: str, most: int) -> str:
    """The text, cut to that many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."
