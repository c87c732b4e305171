"""Pictures of patterns and searches, data derived from a pattern, and statistics."""

from __future__ import annotations

import io
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib.colors
import matplotlib.image
import pytest
import torch
from helpers import random_sparse

import tulle
from tulle.plotting.pictures import COLOURS, Picture
from tulle.programs.candidates import Candidate
from tulle.programs.problem import Problem
from tulle.programs.program import Program
from tulle.tuning.race import Measured
from tulle.tuning.suitable_formats import suitable_formats


def pixels_of(picture: Picture) -> torch.Tensor:
    """The PNG, [height, width, 3] from 0 to 1."""
    return torch.from_numpy(matplotlib.image.imread(io.BytesIO(picture.png))[:, :, :3].copy())


def cells_of(picture: Picture, rows: int, columns: int) -> torch.Tensor:
    """The colours inside the frame of the PNG at the middle of each row and column."""
    pixels = pixels_of(picture)
    box = picture.figure.axes[0].get_window_extent()
    middles = [(torch.arange(count) + 0.5) / count for count in (rows, columns)]
    ys = (pixels.shape[0] - box.y1 + middles[0] * box.height).long()
    xs = (box.x0 + middles[1] * box.width).long()
    return pixels[ys][:, xs]


def is_coloured(cells: torch.Tensor) -> torch.Tensor:
    return (cells < 0.99).any(2)


def words_of(picture: Picture) -> set[str]:
    """The texts of the SVG."""
    root = ElementTree.fromstring(picture.svg)
    return {"".join(each.itertext()) for each in root.iter() if each.tag.endswith("}text")}


def labels_of(picture: Picture) -> list[str]:
    """The texts of the legend."""
    (legend,) = picture.figure.legends or [picture.figure.axes[0].get_legend()]
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr(2,2)", "dia", "hyb(2,1)"])
def test_a_cell_is_coloured_if_it_has_an_entry(format: str) -> None:
    A = tulle.tensor(random_sparse(9, 14, density=0.3), format=format)
    held = torch.zeros(9, 14, dtype=torch.bool)
    held[tuple(A.coordinates())] = True
    assert torch.equal(is_coloured(cells_of(A.plot(), 9, 14)), held)


def test_each_pixel_is_a_cell_of_a_large_matrix(tmp_path: Path) -> None:
    A = tulle.tensor(torch.eye(3000).to_sparse_coo(), format="csr")
    picture = A.plot(tmp_path / "eye.png", size=100)
    assert picture.png == (tmp_path / "eye.png").read_bytes()
    assert torch.equal(is_coloured(cells_of(picture, 100, 100)), torch.eye(100) > 0)
    A.plot(tmp_path / "eye.svg")
    assert ElementTree.parse(tmp_path / "eye.svg").getroot().tag.endswith("svg")
    assert "3000 x 3000, 3000 entries" in words_of(picture)
    axes = picture.figure.axes[0]
    assert axes.get_xlim() == (0, 3000) and axes.get_ylim() == (3000, 0)


def test_more_entries_give_a_stronger_colour() -> None:
    dense = torch.zeros(200, 200)
    dense[:2, :2], dense[2, 2] = 1, 1
    cells = cells_of(tulle.tensor(dense).plot(size=100), 100, 100)
    assert cells[0, 0].sum() < cells[1, 1].sum() < 3
    torch.testing.assert_close(
        cells[0, 0], torch.tensor(matplotlib.colors.to_rgb(COLOURS[0])), rtol=0, atol=0.01
    )


def test_parts_have_colours_of_their_own() -> None:
    A = tulle.tensor(torch.ones(6, 6).triu(), format="{ band(0,0): dia; rest: csr }")
    picture = A.plot()
    cells = cells_of(picture, 6, 6)
    assert all(torch.equal(cells[at, at], cells[0, 0]) for at in range(6))
    assert not torch.equal(cells[0, 0], cells[0, 5])
    assert labels_of(picture) == ["band(0,0): dia", "rest: csr"]
    assert words_of(picture) >= {"band(0,0): dia", "rest: csr", "6 x 6, 21 entries"}
    handles = picture.figure.axes[0].get_legend().legend_handles
    colours = [matplotlib.colors.to_hex(handle.get_color()) for handle in handles if handle]
    assert colours == COLOURS[:2]


@pytest.mark.parametrize("shape", [(4, 5), (0, 4), (4, 0), (1, 1), (2000, 3), (3, 2000)])
def test_unusual_shapes(shape: tuple[int, int]) -> None:
    for dense in (torch.zeros(shape), torch.ones(shape)):
        picture = tulle.tensor(dense, format="csr").plot()
        width, height = picture.figure.get_size_inches() * picture.figure.dpi
        assert pixels_of(picture).shape[:2] == (round(height), round(width))
        assert max(width, height) < 700


def test_words_are_inside_of_pictures() -> None:
    A = tulle.tensor(torch.ones(300, 2), format="{ rows(nnz<=1): dell(1); rest: csr }")
    figure = A.plot().figure
    figure.draw_without_rendering()
    words = [*figure.texts, *figure.axes[0].get_legend().get_texts()]
    assert len(words) == 3
    for word in words:
        box = word.get_window_extent()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1


def test_notebooks_show_pictures() -> None:
    picture = tulle.tensor(torch.eye(3)).plot()
    assert picture._repr_svg_() == picture.svg == picture.svg
    assert "pixels; save(path) writes it" in repr(picture)


# ---- searches ----------------------------------------------------------------------------------


def test_searches_are_drawn(tmp_path: Path) -> None:
    A = tulle.tensor(random_sparse(40, 40, dtype=torch.float32), format="csr")
    found = tulle.tune("ij,jk->ik", A, torch.rand(40, 8), seconds=0.2)
    picture = found.plot(tmp_path / "search.svg")
    assert (tmp_path / "search.svg").read_text() == picture.svg
    *dots, best = picture.figure.axes[0].collections
    drawn = sorted(point for group in dots for point in group.get_offsets().tolist())
    shown = [m for m in found.measured if not m.refused and m.candidate.predicted]
    wanted = [[1e3 * (m.candidate.predicted or 0), 1e3 * m.seconds] for m in shown]
    torch.testing.assert_close(torch.tensor(drawn), torch.tensor(sorted(wanted)))
    assert len(best.get_offsets()) in (1, 2) and best.get_facecolor().size == 0
    (planned,) = picture.figure.axes[0].lines
    assert planned.get_ydata() == pytest.approx([1e3 * found.default.seconds] * 2)
    assert labels_of(picture)[0] == "csr" and labels_of(picture)[-2:] == ["best", "planned by rule"]
    assert words_of(picture) >= {"predicted, ms", "measured, ms", "csr"}
    assert any(words.startswith("ij,jk->ik: ") for words in words_of(picture))
    found.plot(tmp_path / "search.png")
    assert is_coloured(pixels_of(picture)).any()


def made_search(
    *formats: str, text: str = "ij,jk->ik", predicted: float | None = 1e-4
) -> tulle.Tuned:
    measured = [
        Measured(
            Candidate((("A", format),), "", predicted and predicted * (1 + n), is_default=True),
            2e-4 * (1 + n),
        )
        for n, format in enumerate(formats)
    ]
    problem = Problem(Program(text), (), ())
    return tulle.Tuned(problem, measured[0], measured, [], None, 8, (8, 8), 1.0)


def test_searches_of_many_formats_have_legends_of_several_lines() -> None:
    formats = [
        f"columns({c}){{ rows(nnz<={n}): ell({n}); rest: csr }}" for c in (2, 3) for n in (4, 5)
    ]
    formats += ["csr", "csc", "bsr(16,16)", " ".join(["unlikely"] * 20)]
    text = "\n  T[i,k] = A[i,j] * B[j,k]\n  y[i] = " + " + ".join(["T[i,k]"] * 20)
    figure = made_search(*formats, text=text).plot().figure
    labels = labels_of(Picture(figure))
    assert labels[:-3] == formats[:-1]
    assert labels[-3].startswith("unlikely ") and labels[-3].endswith("...")
    title = figure.get_suptitle()
    assert title.startswith("T[i,k] = A[i,j] * B[j,k]; y[i] = T[i,k]") and "8 measured" in title
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.legends[0].get_texts()]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert all(figure.bbox.y0 <= box.y0 for box in boxes)


def test_candidates_without_an_estimate_are_drawn_if_there_are_no_others() -> None:
    picture = made_search("csr", "csc", predicted=None).plot()
    assert sum(len(group.get_offsets()) for group in picture.figure.axes[0].collections[:-1]) == 2
    assert pixels_of(picture).shape[2] == 3


# ---- mistakes ----------------------------------------------------------------------------------


def test_without_matplotlib_the_message_says_what_to_install(tmp_path: Path) -> None:
    script = """
import sys
sys.modules["matplotlib"] = None
import torch, tulle
try:
    tulle.tensor(torch.eye(3)).plot()
except tulle.UserError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "plot needs matplotlib: pip install matplotlib" in done.stdout


def test_importing_the_package_imports_neither_matplotlib_nor_scipy(tmp_path: Path) -> None:
    script = "import sys, tulle; print({'matplotlib', 'scipy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_mistakes() -> None:
    A = tulle.tensor(random_sparse(4, 5), format="csr")
    with pytest.raises(tulle.UserError, match=r"end in \.svg or \.png"):
        A.plot("picture.jpeg")
    with pytest.raises(tulle.UserError, match="size should be"):
        A.plot(size=0)
    with pytest.raises(tulle.UserError, match="expected a matrix"):
        tulle.tensor(random_sparse(4, 5, 6), format="csf").plot()


def test_statistics() -> None:
    dense = torch.zeros(12, 12)
    dense[4:8, 4:8] = 1
    A = tulle.tensor(dense, format="csr")
    found = A.statistics()
    assert (found.shape, found.nnz, found.longest_row) == ((12, 12), 16, 4)
    assert found.empty_rows == pytest.approx(8 / 12)
    assert (found.diagonals, found.bandwidth) == (7, 3)
    assert found.block_fill[4] == found.block_fill[2] == 1
    assert found.block_fill[8] == pytest.approx(16 / 64)
    assert "12 x 12, 16 entries" in str(found)
    empty = tulle.tensor(torch.zeros(3, 4), format="csr").statistics()
    assert (empty.nnz, empty.empty_rows, empty.density) == (0, 1, 0)


def scattered_ones() -> torch.Tensor:
    return (random_sparse(300, 300, density=0.01) > 0).float()


def test_formats_suit_the_pattern() -> None:
    def formats(dense: torch.Tensor) -> list[str]:
        return suitable_formats(tulle.tensor(dense, format="csr"))

    band = sum(torch.diag(torch.ones(200 - k), k) for k in (0, 1, 5))
    assert "dia" in formats(band) and "ell(3)" in formats(band)
    blocks = torch.kron(torch.eye(20), torch.ones(8, 8))
    assert "bsr(8,8)" in formats(blocks)
    scattered = random_sparse(300, 300, density=0.01)
    assert not any("bsr" in f or f == "dia" or f == "dense" for f in formats(scattered))
    assert "dense" in formats(torch.ones(5, 5))
    assert "dia-csr(-1,1)" in formats(torch.eye(300) + torch.eye(300).roll(1, 0) + scattered_ones())
    assert "bsr-csr(8,8)" in formats(torch.block_diag(blocks, scattered_ones()))
    hollow = torch.zeros(100, 100)
    hollow[::10, ::7] = 1
    assert "dcsr" in formats(hollow)


def test_what_is_derived_can_be_listed_and_freed() -> None:
    dense = random_sparse(30, 30, dtype=torch.float32)
    A = tulle.tensor(dense, format="csr")
    B = torch.rand(30, 4)
    assert A.derived() == {}
    A.statistics()
    _ = A @ B
    assert list(A.derived()) == ["statistics"]
    assert all(size > 0 for size in A.derived().values())
    (2 * A).free_derived()  # of the same pattern
    assert A.derived() == {}
    torch.testing.assert_close(A @ B, dense @ B)
    assert A.statistics().nnz == A.nnz
