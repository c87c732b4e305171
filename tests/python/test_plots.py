"""Pictures of patterns, what is kept with a pattern, and statistics."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path

import pytest
import torch
from helpers import random_sparse

import tulle
from tulle.plotting.drawings import SCALE, Words, picture
from tulle.plotting.lettering import lettering
from tulle.plotting.matrix_plot import FRAME, LETTERS, MARGIN
from tulle.plotting.pictures import COLOURS, Picture, rgb
from tulle.programs.candidates import Candidate
from tulle.programs.problem import Problem
from tulle.programs.program import Program
from tulle.tuning.race import Measured
from tulle.tuning.suitable_formats import suitable_formats


def pixels_of(png: bytes) -> list[list[tuple[int, int, int]]]:
    """Reads back what `tulle.pictures.png` wrote."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[33:37])[0]
    assert png[37:41] == b"IDAT"
    rows = zlib.decompress(png[41 : 41 + length])
    lines = [rows[at * (3 * width + 1) + 1 :][: 3 * width] for at in range(height)]
    return [[tuple(line[3 * x : 3 * x + 3]) for x in range(width)] for line in lines]  # type: ignore[misc]


def matrix_of(png: bytes, rows: int, columns: int) -> list[list[tuple[int, int, int]]]:
    """What stands in the frame, a pixel for each of so many rows and columns."""
    pixels = pixels_of(png)
    frame = rgb(FRAME)
    ys = [y for y, row in enumerate(pixels) if frame in row]
    xs = [x for x, colour in enumerate(pixels[ys[0]]) if colour == frame]
    scale = (ys[-1] - ys[0] - 1) // rows
    assert (xs[-1] - xs[0] - 1, ys[-1] - ys[0] - 1) == (columns * scale, rows * scale)
    inside = [row[xs[0] + 1 : xs[-1]] for row in pixels[ys[0] + 1 : ys[-1]]]
    small = [row[::scale] for row in inside[::scale]]
    assert inside == [
        [colour for colour in row for _ in range(scale)] for row in small for _ in range(scale)
    ]
    return small


def test_a_pixel_is_coloured_where_there_is_an_entry() -> None:
    dense = random_sparse(9, 14, density=0.3)
    for format in ("csr", "csc", "coo", "bsr(2,2)", "dia", "hyb(2,1)", "bsr-csr(2,2)"):
        A = tulle.tensor(dense, format=format)
        picture = A.plot()
        assert picture.png
        held = torch.zeros(9, 14, dtype=torch.bool)
        held[tuple(A.coordinates())] = True
        white = (255, 255, 255)
        found = [[colour != white for colour in row] for row in matrix_of(picture.png, 9, 14)]
        assert found == held.tolist()


def test_parts_have_colours_of_their_own() -> None:
    A = tulle.tensor(torch.ones(6, 6).triu(), format="{ band(0,0): dia; rest: csr }")
    picture = A.plot()
    assert picture.png
    pixels = matrix_of(picture.png, 6, 6)
    assert len({pixels[at][at] for at in range(6)}) == 1
    assert pixels[0][0] != pixels[0][5]
    assert "band(0,0): dia" in picture.svg


def test_a_png_has_the_names_of_parts_beside_their_colours() -> None:
    A = tulle.tensor(torch.ones(6, 6).triu(), format="{ band(0,0): dia; rest: csr }")
    png = A.plot().png
    assert png
    pixels = torch.tensor(pixels_of(png))
    for number, name in enumerate(["band(0,0): dia", "rest: csr"]):
        rows, columns = (pixels == torch.tensor(rgb(COLOURS[number]))).all(2).nonzero().T
        square = columns < MARGIN + 7 * LETTERS
        line = pixels[int(rows[square].min()) :, MARGIN + 7 * LETTERS :]
        ink = lettering(name, LETTERS)
        dark = (line[: ink.shape[0]] == 0).all(2)
        first = int(dark.any(0).nonzero()[0]) - int(ink.any(0).nonzero()[0])
        assert torch.equal(dark[:, first : first + ink.shape[1]], ink)


def test_letters_without_a_shape_are_boxes() -> None:
    assert torch.equal(lettering("é"), lettering("ß"))
    assert not torch.equal(lettering("C"), lettering("c"))
    assert lettering("ab", 3).shape == (27, 36)
    assert lettering(" ").sum() == 0


def test_large_matrices_become_small_pictures(tmp_path: Path) -> None:
    A = tulle.tensor(torch.eye(3000).to_sparse_coo(), format="csr")
    picture = A.plot(tmp_path / "eye.png", size=100)
    assert picture.png == (tmp_path / "eye.png").read_bytes()
    pixels = matrix_of(picture.png, 100, 100)
    assert all(
        (pixels[y][x] != (255, 255, 255)) == (x == y) for y in range(100) for x in range(100)
    )
    A.plot(tmp_path / "eye.svg")
    root = ElementTree.parse(tmp_path / "eye.svg").getroot()
    assert root.tag.endswith("svg")
    assert "3000 x 3000, 3000 entries" in "".join(root.itertext())
    assert tulle.tensor(torch.zeros(4, 5), format="csr").plot().png


def test_searches_are_drawn(tmp_path: Path) -> None:
    A = tulle.tensor(random_sparse(40, 40, dtype=torch.float32), format="csr")
    found = tulle.tune("ij,jk->ik", A, torch.rand(40, 8), seconds=0.2)
    picture = found.plot(tmp_path / "search.svg")
    root = ElementTree.fromstring(picture.svg)
    circles = [element for element in root if element.tag.endswith("circle")]
    assert len(circles) > len([m for m in found.measured if not m.refused])
    found.plot(tmp_path / "search.png")
    pixels = pixels_of((tmp_path / "search.png").read_bytes())
    colours = {colour for row in pixels for colour in row}
    assert (255, 255, 255) in colours and (0, 0, 0) in colours  # the ring around the best
    assert rgb(COLOURS[0]) in colours
    assert words_of(picture) >= {"predicted, ms", "measured, ms", "csr"}
    assert any(words.startswith("ij,jk->ik: ") for words in words_of(picture))


def words_of(picture: Picture) -> set[str]:
    """The texts of the SVG; each stands in the PNG at the same place in the same colour."""
    assert picture.png
    pixels = torch.tensor(pixels_of(picture.png))
    found = set()
    for element in ElementTree.fromstring(picture.svg):
        if not element.tag.endswith("text"):
            continue
        words, anchor = element.text or "", element.get("text-anchor", "start")
        ink = lettering(words, SCALE)
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        x, y = (round(SCALE * float(element.get(name, ""))) for name in ("x", "y"))
        if "transform" in element.attrib:
            ink = ink.rot90()
            x, y = x - 14, y + round(share * (ink.shape[0] - SCALE)) - ink.shape[0]
        else:
            x, y = x - round(share * (ink.shape[1] - SCALE)), y - 14
        here = pixels[y : y + ink.shape[0], x : x + ink.shape[1]]
        inked = (here == torch.tensor(rgb(element.get("fill", "")))).all(2)
        assert inked.shape == ink.shape and inked[ink].all(), words
        if "font-weight" not in element.attrib:
            assert not inked[~ink].any(), words
        found.add(words)
    return found


def test_searches_of_many_formats_have_legends_of_several_lines() -> None:
    formats = [
        f"columns({c}){{ rows(nnz<={n}): ell({n}); rest: csr }}" for c in (2, 3) for n in (4, 5)
    ]
    formats += ["csr", "csc", "bsr(16,16)", " ".join(["unlikely"] * 20)]
    measured = [
        Measured(Candidate((("A", format),), "", 1e-4 * (1 + n), is_default=True), 2e-4 * (1 + n))
        for n, format in enumerate(formats)
    ]
    text = "\n  T[i,k] = A[i,j] * B[j,k]\n  y[i] = " + " + ".join(["T[i,k]"] * 20)
    problem = Problem(Program(text), (), ())
    found = tulle.Tuned(problem, measured[0], measured, [], None, 8, (8, 8), 1.0)
    words = words_of(found.plot())
    assert words >= set(formats[:-1])
    assert any(one.startswith("unlikely ") and one.endswith("...") for one in words)
    assert any(one.startswith("T[i,k] = A[i,j] * B[j,k]; y[i] = T[i,k]") for one in words)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("anchor", ["start", "middle", "end"])
def test_words_past_the_edges_are_cut_off(anchor: str, is_turned: bool) -> None:
    for place in (-3, 0, 5, 20, 60):
        one = Words(place, place, "words that are long", anchor, is_turned=is_turned)
        picture(20, 20, [one])
    inside = picture(80, 20, [Words(5, 15, "words")])
    assert words_of(inside) == {"words"}


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
    assert list(A.derived()) == ["statistics", "programs bound to it"]
    assert all(size > 0 for size in A.derived().values())
    (2 * A).free_derived()  # of the same pattern
    assert A.derived() == {}
    torch.testing.assert_close(A @ B, dense @ B)
    assert A.statistics().nnz == A.nnz
