"""Operands on the command line: files, and random tensors with a given shape."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import torch

from tulle.interchange.files import load
from tulle.interchange.imports import tensor
from tulle.programs.program import Operand
from tulle.support.errors import UserError, missing_package

HELP = """an operand NAME=WHAT, where WHAT is a file or a random tensor:
  A=graph.mtx:csr                    a file of Matrix Market (.mtx), SciPy (.npz),
                                     FROSTT (.tns) or torch.save (.pt:
                                     reading it can run code, so name only a file
                                     that you trust), stored as csr
  A=random(5000x5000,0.01):bsr(4,4)  this share of the entries, at random places
  A=band(5000,-1,0,1):dia            diagonals of a square matrix
  B=dense(5000x64)                   random, dense"""

_RANDOM = re.compile(r"random\(([\dx]+),([\d.e+-]+)\)")
_DENSE = re.compile(r"dense\(([\dx]+)\)")
_BAND = re.compile(r"band\((\d+)((?:,-?\d+)+)\)")
_WRITERS = {".mtx": "Matrix Market", ".npz": "SciPy", ".pt": "torch.save"}


def parse_operand(text: str, dtype: torch.dtype, device: str) -> tuple[str, Operand]:
    """The name and the tensor of "A=graph.mtx:csr"."""
    name, equals, rest = text.partition("=")
    what, _, format = rest.partition(":")
    if not equals or not name.isidentifier() or not what:
        raise UserError(f"'{text}' is not an operand; write {HELP}")
    try:
        value = _made(what, dtype)
    except (MemoryError, RuntimeError):  # from PyTorch's allocator
        raise UserError(f"'{what}' does not fit into memory; make it smaller.") from None
    if value is None:
        value = _read(Path(what))
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and not format:
        return name, value.to(dtype=dtype, device=device)
    found = tensor(value, format=format) if format else tensor(value)
    return name, found.to(dtype).to(device)


def _shape(what: str, text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(size) for size in text.split("x"))
    except ValueError:
        raise UserError(f"'{what}': write a shape as 3x4, not as '{text}'.") from None
    if math.prod(max(size, 1) for size in shape) >= 2**63:
        raise UserError(f"'{what}' has 2^63 entries or more; make it smaller.")
    return shape


def _share(what: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UserError(
            f"'{what}': the share of the entries must be from 0 to 1, but found '{text}'."
        )
    return share


def _offset(what: str, text: str, size: int) -> int:
    offset, last = int(text), max(size - 1, 0)
    if abs(offset) > last:
        raise UserError(
            f"'{what}': the diagonals of {size} x {size} are {-last} to {last}, but found {offset}."
        )
    return offset


def _made(what: str, dtype: torch.dtype) -> Any:
    """The tensor that the text describes; None if the text is not of such a form."""
    draw = torch.Generator().manual_seed(0)
    if match := _DENSE.fullmatch(what):
        return torch.rand(_shape(what, match[1]), generator=draw).to(dtype)
    if match := _BAND.fullmatch(what):
        size, _ = shape = _shape(what, f"{match[1]}x{match[1]}")
        offsets = [_offset(what, offset, size) for offset in match[2].split(",")[1:]]
        rows = torch.cat([torch.arange(max(0, -k), min(size, size - k)) for k in offsets])
        columns = torch.cat([torch.arange(max(0, k), min(size, size + k)) for k in offsets])
        return _sparse(torch.stack([rows, columns]), shape, draw)
    match = _RANDOM.fullmatch(what)
    if not match:
        return None
    shape = _shape(what, match[1])
    count = round(math.prod(shape) * _share(what, match[2]))
    ends = [max(size, 1) for size in shape]  # of a size 0 nothing is drawn
    places = torch.stack([torch.randint(end, (count,), generator=draw) for end in ends])
    return _sparse(places, shape, draw)


def _sparse(places: torch.Tensor, shape: tuple[int, ...], draw: torch.Generator) -> torch.Tensor:
    values = torch.rand(places.shape[1], generator=draw)
    return torch.sparse_coo_tensor(places, values, shape, check_invariants=False).coalesce()


def _read(path: Path) -> Any:
    if not path.exists():
        raise UserError(f"there is no file '{path}', and the name describes no tensor: {HELP}")
    if path.suffix == ".tns":
        return load(path)
    try:
        if path.suffix == ".pt":
            return torch.load(path, weights_only=False)
        if path.suffix == ".npz":
            from scipy.sparse import load_npz

            return load_npz(path)
        if path.suffix == ".mtx":
            from scipy.io import mmread

            return mmread(path)
    except ImportError:
        raise missing_package(f"reading '{path}'", "SciPy", "scipy") from None
    except Exception as error:  # a damaged file leads to errors of many kinds
        writer = _WRITERS[path.suffix]
        raise UserError(f"'{path}' could not be read as a file of {writer}: {error}") from None
    raise UserError(f"'{path}' should end in .mtx, .npz, .tns or .pt.")
