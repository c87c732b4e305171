"""Operands that are named on the command line: files, or random tensors of a given shape."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch

from tulle.errors import UserError
from tulle.imports import tensor
from tulle.programs import Operand

HELP = """an operand NAME=WHAT, where WHAT is a file or a random tensor:
  A=graph.mtx:csr                    a file of Matrix Market's (.mtx), SciPy's (.npz) or
                                     torch.save's (.pt), stored as csr
  A=random(5000x5000,0.01):bsr(4,4)  such a share of the entries, at random
  A=band(5000,-1,0,1):dia            diagonals of a square matrix
  B=dense(5000x64)                   random, dense"""

_RANDOM = re.compile(r"random\(([\dx]+),([\d.e+-]+)\)")
_DENSE = re.compile(r"dense\(([\dx]+)\)")
_BAND = re.compile(r"band\((\d+)((?:,-?\d+)+)\)")


def parse_operand(text: str, dtype: torch.dtype, device: str) -> tuple[str, Operand]:
    """The name and the tensor of "A=graph.mtx:csr"."""
    name, equals, rest = text.partition("=")
    what, _, format = rest.partition(":")
    if not equals or not name.isidentifier() or not what:
        raise UserError(f"'{text}' names no operand; write {HELP}")
    value = _made(what, dtype)
    if value is None:
        value = _read(Path(what))
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and not format:
        return name, value.to(dtype=dtype, device=device)
    found = tensor(value, format=format) if format else tensor(value)
    return name, found.to(dtype).to(device)


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split("x"))


def _made(what: str, dtype: torch.dtype) -> Any:
    """The tensor that the text describes; None if it is not of this kind."""
    draw = torch.Generator().manual_seed(0)
    if match := _DENSE.fullmatch(what):
        return torch.rand(_shape(match[1]), generator=draw).to(dtype)
    if match := _BAND.fullmatch(what):
        size = int(match[1])
        offsets = [int(offset) for offset in match[2].split(",")[1:]]
        rows = torch.cat([torch.arange(max(0, -k), min(size, size - k)) for k in offsets])
        columns = torch.cat([torch.arange(max(0, k), min(size, size + k)) for k in offsets])
        return _sparse(torch.stack([rows, columns]), (size, size), draw)
    match = _RANDOM.fullmatch(what)
    if not match:
        return None
    shape, density = _shape(match[1]), float(match[2])
    total = 1.0
    for size in shape:
        total *= size
    count = round(total * density)
    places = torch.stack([torch.randint(size, (count,), generator=draw) for size in shape])
    return _sparse(places, shape, draw)


def _sparse(places: torch.Tensor, shape: tuple[int, ...], draw: torch.Generator) -> torch.Tensor:
    values = torch.rand(places.shape[1], generator=draw)
    return torch.sparse_coo_tensor(places, values, shape, check_invariants=False).coalesce()


def _read(path: Path) -> Any:
    if not path.exists():
        raise UserError(f"there is no file '{path}', and it is not a tensor to be made: {HELP}")
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
        raise UserError(f"reading '{path}' needs SciPy: pip install scipy.") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(f"'{path}' could not be read: {error}") from None
    raise UserError(f"'{path}' should end in .mtx, .npz or .pt.")
