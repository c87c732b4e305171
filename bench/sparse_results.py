"""The contenders of operations with a sparse result, all in CSR."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import graphs
import numpy as np
import scipy.sparse
import torch
from harness import Call, WrongResult

Csr: TypeAlias = scipy.sparse.csr_matrix


def _with_values(structure: graphs.Structure, seed: int) -> Csr:
    values = np.random.default_rng(seed).random(structure.nnz, dtype=np.float32) + np.float32(0.1)
    return Csr((values, structure.crd, structure.pos), shape=structure.shape)


def _square() -> tuple[Csr, Csr]:
    a = _with_values(graphs.uniform(100_000, 100_000, 10), 0)
    return a, a


def _two_graphs() -> tuple[Csr, Csr]:
    first, second = (_with_values(graphs.network(graphs.ARXIV, seed), seed) for seed in (0, 1))
    return first, second


# name: (operands, operation)
OPERATIONS: dict[str, tuple[Callable[[], tuple[Csr, Csr]], Callable[[Any, Any], Any]]] = {
    "spgemm": (_square, operator.matmul),
    "add": (_two_graphs, operator.add),
}


def _as_torch(a: Csr) -> torch.Tensor:
    parts = (torch.from_numpy(part) for part in (a.indptr, a.indices, a.data))
    return torch.sparse_csr_tensor(*parts, size=a.shape, check_invariants=False)


def contender(name: str, operation: str, a: Csr, b: Csr, tulle: ModuleType | None = None) -> Call:
    """The operation in `tulle`, `scipy` or `torch`, with operands that are already converted."""
    apply = OPERATIONS[operation][1]
    if name == "scipy":

        def sorted_result() -> Csr:
            result = apply(a, b)
            result.sort_indices()
            return result

        return sorted_result
    if name == "torch":
        left, right = _as_torch(a), _as_torch(b)
    elif name == "tulle" and tulle is not None:
        left, right = (tulle.tensor(_as_torch(x), format="csr") for x in (a, b))
    else:
        raise ValueError(f"no contender is called {name!r}")
    return lambda: apply(left, right)


def as_scipy(result: Any) -> Csr:
    """The result as a SciPy matrix with the same arrays, neither sorted nor summed."""
    if isinstance(result, torch.Tensor) and result.layout == torch.sparse_csr:
        arrays = (result.values(), result.col_indices(), result.crow_indices())
        return Csr(tuple(array.numpy() for array in arrays), shape=tuple(result.shape))
    return result if scipy.sparse.issparse(result) else result.to_scipy()


def is_sorted(result: Csr) -> bool:
    """Whether the columns of every row ascend."""
    inside = np.ones(max(len(result.indices) - 1, 0), dtype=bool)
    starts = result.indptr[1:-1]
    inside[starts[(starts > 0) & (starts < len(result.indices))] - 1] = False
    return bool((np.diff(result.indices)[inside] > 0).all())


def check(name: str, result: Any, wanted: Csr) -> None:
    """Raises WrongResult if the pattern or the values differ from the reference."""
    found = as_scipy(result)
    if not is_sorted(found):
        found = found.copy()
        found.has_sorted_indices = False
        found.sort_indices()
    same = np.array_equal(found.indptr, wanted.indptr)
    if not same or not np.array_equal(found.indices, wanted.indices):
        raise WrongResult(f"{name}: {found.nnz} entries, expected {wanted.nnz} in other places")
    if not np.allclose(found.data, wanted.data, rtol=1e-4):
        raise WrongResult(f"{name}: values differ by up to {abs(found.data - wanted.data).max()}")


def bytes_of(a: Csr) -> int:
    """The size of the three arrays of a matrix."""
    return int(a.indptr.nbytes + a.indices.nbytes + a.data.nbytes)
