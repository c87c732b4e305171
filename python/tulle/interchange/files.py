"""Sparse tensors in files: Matrix Market, SciPy's .npz, FROSTT's .tns, and torch.save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tulle.interchange.exports import to_scipy
from tulle.interchange.imports import tensor
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError, missing_package
from tulle.tensors.entry_lists import from_entries
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor


def load(
    path: str | Path,
    format: str | Format | None = None,
    *,
    dtype: torch.dtype | None = None,
    shape: Sequence[int] | None = None,
) -> SparseTensor:
    """The sparse tensor of a file. The end of the name says which kind it is: .mtx (Matrix Market),
    .npz (scipy.sparse.save_npz), .tns (FROSTT: a line for each entry, with the coordinates counted
    from 1 and the value), or .pt (torch.save); .mtx and .tns may be compressed (.mtx.gz).

    Without `format`, matrices of .mtx are csr, tensors of .tns coo, and others keep their format.
    `shape` is for .tns, which does not store it; without it each size is the largest coordinate.
    Reading a .pt file runs no code from it.
    """
    path = _path_of("load", path)
    kind = _kind_of(path)
    if not path.exists():
        raise UserError(f"load: there is no file '{path}'.")
    if shape is not None and kind != ".tns":
        raise UserError(f"load: a {kind} file stores its shape; omit shape=.")
    try:
        data = _READERS[kind](path)
    except ImportError:
        raise missing_package(f"reading '{path}'", "SciPy", "scipy") from None
    except Exception as error:  # a damaged file leads to errors of many kinds
        raise UserError(f"load: '{path}' could not be read as {_KINDS[kind]}: {error}") from None
    if kind == ".tns":
        found = _from_lines(str(path), data, shape)
    else:
        found = tensor(data)
        if format is None and kind == ".mtx":
            format = "csr"
    return found.to(dtype=dtype, format=format)


def save(tensor: SparseTensor, path: str | Path) -> None:
    """Writes a sparse tensor to a file that `load` reads. The end of the name says which kind: .mtx
    and .npz hold matrices without their format, .tns the entries of any tensor without its shape,
    .pt everything."""
    if not isinstance(tensor, SparseTensor):
        raise UserError(f"save: expected a sparse tensor, but found {type(tensor).__name__}.")
    path = _path_of("save", path)
    kind = _kind_of(path)
    own = tensor.detach().cpu()
    if own.dtype in (torch.float16, torch.bfloat16) and kind != ".pt":
        raise UserError(
            f"save: {_KINDS[kind]} has no numbers of the type {own.dtype}; write A.float(), or a "
            "file .pt."
        )
    if kind == ".mtx" and path.suffix == ".gz":
        raise UserError(f"save: write '{path.with_suffix('')}', and compress it with gzip.")
    try:
        _WRITERS[kind](own, path)
    except ImportError:
        raise missing_package(f"writing '{path}'", "SciPy", "scipy") from None


_KINDS = {
    ".mtx": "a file of Matrix Market",
    ".npz": "a file of SciPy",
    ".tns": "a file of FROSTT",
    ".pt": "a file of torch.save",
}


def _path_of(caller: str, path: Any) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise UserError(
            f"{caller}: expected the path of a file, but found {type(path).__name__}."
        ) from None


def _kind_of(path: Path) -> str:
    suffixes = path.suffixes
    last = suffixes[-1] if suffixes else ""
    if last == ".gz" and len(suffixes) > 1 and suffixes[-2] in (".mtx", ".tns"):
        return suffixes[-2]
    if last not in _KINDS:
        raise UserError(
            f"'{path}' should end in .mtx, .npz, .tns or .pt; .mtx.gz and .tns.gz are compressed."
        )
    return last


# ---- reading -------------------------------------------------------------------------------------


def _read_mtx(path: Path) -> Any:
    from scipy.io import mmread

    return mmread(path)


def _read_npz(path: Path) -> Any:
    from scipy.sparse import load_npz

    return load_npz(path)


def _read_pt(path: Path) -> Any:
    return torch.load(path, weights_only=True)


def _read_tns(path: Path) -> Any:
    """The numbers of a file of FROSTT, a row for each entry."""
    return np.loadtxt(path, dtype=np.float64, comments="#", ndmin=2)


_READERS: dict[str, Callable[[Path], Any]] = {
    ".mtx": _read_mtx,
    ".npz": _read_npz,
    ".tns": _read_tns,
    ".pt": _read_pt,
}


def _from_lines(name: str, lines: Any, shape: Sequence[int] | None) -> SparseTensor:
    """The tensor of the lines of a file of FROSTT."""
    table = torch.from_numpy(lines)
    given = None if shape is None else shape_of("load", shape)
    if table.shape[0] == 0:
        if not given:
            raise UserError(f"load: '{name}' has no entries; give its shape=.")
        table = torch.zeros(0, len(given) + 1, dtype=torch.float64)
    numbers, values = table[:, :-1], table[:, -1]
    rank = numbers.shape[1]
    if rank == 0:
        raise UserError(f"load: the lines of '{name}' have a value, but no coordinates.")
    coordinates = numbers.to(torch.int64).T - 1
    largest = coordinates.amax(1).tolist() if coordinates.shape[1] else [-1] * rank
    sizes = given or tuple(at + 1 for at in largest)
    if len(sizes) != rank:
        raise UserError(f"load: the entries of '{name}' have rank {rank}, but shape= is {sizes}.")
    is_whole = bool((numbers == numbers.round()).all()) and bool((coordinates >= 0).all())
    if not is_whole or any(at >= size for at, size in zip(largest, sizes, strict=True)):
        raise UserError(
            f"load: '{name}' has a coordinate outside of the shape {sizes}; the coordinates of a "
            "file of FROSTT are integers from 1 on."
        )
    return from_entries(SparseTensor, "coo", sizes, coordinates, values)


# ---- writing -------------------------------------------------------------------------------------


def _write_tns(source: SparseTensor, path: Path) -> None:
    """A line for each entry. A name that ends in .gz is compressed."""
    coordinates, values = source.entries()
    is_whole = not values.dtype.is_floating_point
    columns = [(f"i{n}", np.int64) for n in range(source.ndim)]
    columns.append(("value", np.int64 if is_whole else np.float64))
    lines = np.empty(values.numel(), dtype=columns)
    for at, row in enumerate(coordinates):
        lines[f"i{at}"] = (row + 1).numpy()
    lines["value"] = values.numpy()
    np.savetxt(path, lines, fmt=["%d"] * source.ndim + ["%d" if is_whole else "%.17g"])


def _write_mtx(source: SparseTensor, path: Path) -> None:
    from scipy.io import mmwrite

    mmwrite(path, to_scipy(source))


def _write_npz(source: SparseTensor, path: Path) -> None:
    from scipy.sparse import save_npz

    save_npz(path, to_scipy(source))


def _write_pt(source: SparseTensor, path: Path) -> None:
    torch.save(source, path)


_WRITERS: dict[str, Callable[[SparseTensor, Path], None]] = {
    ".mtx": _write_mtx,
    ".npz": _write_npz,
    ".tns": _write_tns,
    ".pt": _write_pt,
}
