"""Synthetic sparse matrices with the sizes and degree shapes of well-known data sets.

Every generator returns a `Structure`: CSR without values, positions and coordinates as int32,
coordinates ascending in each row. The same name and seed give the same matrix on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray


class Structure(NamedTuple):
    """The structure of a CSR matrix: row i holds the columns crd[pos[i]:pos[i + 1]]."""

    pos: NDArray[np.int32]
    crd: NDArray[np.int32]
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        return len(self.crd)


@dataclass(frozen=True)
class Network:
    """Statistics of a graph. `tail`: exponent of a power law, or sigma of lognormal degrees."""

    nodes: int
    edges: int
    largest_degree: int
    degrees: str
    tail: float
    undirected: bool = True
    components: int = 1
    communities: int = 0  # within one component
    inside: float = 0.0  # share of the edges that stay in their community


CORA = Network(2_708, 10_556, 168, "power", 3.0)
PUBMED = Network(19_717, 88_651, 171, "power", 2.6)
PPI = Network(44_906, 1_271_274, 722, "lognormal", 1.0, components=20, communities=9, inside=0.45)
ARXIV = Network(169_343, 1_166_243, 13_000, "power", 2.3, undirected=False)
PROTEINS = Network(132_534, 79_122_504, 7_800, "lognormal", 0.65, communities=60, inside=0.5)
REDDIT = Network(232_965, 114_615_892, 21_700, "lognormal", 1.0, communities=120, inside=0.6)


def _device() -> str:
    """The device that searches and sorts large arrays; the result does not depend on it."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def _places(borders: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    """For each value, the number of borders that are at most the value."""
    where = _device()
    found = torch.searchsorted(
        torch.from_numpy(borders).to(where), torch.from_numpy(values).to(where), right=True
    )
    return found.cpu().numpy()


def _expected_degrees(net: Network, rng: np.random.Generator) -> NDArray[np.float64]:
    """A real-valued degree for each node: the requested distribution, scaled to the number of
    edges."""
    if net.degrees == "power":
        shape = ((np.arange(net.nodes) + 0.5) / net.nodes) ** (-1 / (net.tail - 1))
    elif net.degrees == "lognormal":
        shape = np.exp(net.tail * rng.standard_normal(net.nodes))
    else:
        raise ValueError(f"degrees are 'power' or 'lognormal', not {net.degrees!r}")
    low, high = 0.0, float(net.edges)
    for _ in range(100):  # the scale at which the clipped degrees add up, by bisection
        scale = (low + high) / 2
        low, high = (
            (scale, high)
            if np.minimum(scale * shape, net.largest_degree).sum() < net.edges
            else (low, scale)
        )
    degrees: NDArray[np.float64] = rng.permutation(np.minimum(high * shape, net.largest_degree))
    degrees[degrees.argmax()] = net.largest_degree
    return degrees


def _whole_degrees(
    expected: NDArray[np.float64], total: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Integers near `expected` whose sum is `total`."""
    running = np.cumsum(expected) * (total / expected.sum())
    marks = np.floor(running + rng.random()).astype(np.int64)
    marks[-1] = total
    return np.diff(marks, prepend=0)


def _draw_columns(
    rows: NDArray[np.int64],
    borders: NDArray[np.int64],
    popularity: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """A column for each row, drawn by popularity from the block of the row."""
    running = np.concatenate(([0.0], np.cumsum(popularity)))
    block = _places(borders, rows) - 1
    first, end = borders[block], borders[block + 1]
    at = running[first] + rng.random(len(rows)) * (running[end] - running[first])
    return np.clip(_places(running, at) - 1, first, end - 1)


def _union(known: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """The union of both, ascending."""
    both = torch.from_numpy(np.concatenate((known, drawn))).to(_device())
    return torch.unique(both).cpu().numpy()


def _from_keys(keys: NDArray[np.int64], shape: tuple[int, int]) -> Structure:
    """CSR from distinct, ascending row * columns + column."""
    rows, columns = np.divmod(keys, shape[1])
    pos = np.zeros(shape[0] + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=pos[1:])
    return Structure(pos, columns.astype(np.int32), shape)


def network(net: Network, seed: int = 0, shuffled: bool = False) -> Structure:
    """A graph with the given statistics.

    Communities give nearby nodes common neighbours, unless `shuffled`. Duplicates are drawn again,
    so that the number of edges is within 0.1% of the requested one.
    """
    rng = np.random.default_rng(seed)
    expected = _expected_degrees(net, rng)
    popularity = expected if net.undirected else rng.permutation(expected)
    components = np.linspace(0, net.nodes, net.components + 1).astype(np.int64)
    communities = np.linspace(0, net.nodes, net.components * max(net.communities, 1) + 1).astype(
        np.int64
    )

    degree = _whole_degrees(expected, net.edges, rng)
    keys = np.empty(0, dtype=np.int64)
    for _ in range(30):
        missing = np.maximum(degree - np.bincount(keys // net.nodes, minlength=net.nodes), 0)
        if missing.sum() <= net.edges // 1000:
            break
        rows = np.repeat(np.arange(net.nodes), missing)
        columns = _draw_columns(rows, components, popularity, rng)
        if net.communities:
            near = rng.random(len(rows)) < net.inside
            columns[near] = _draw_columns(rows[near], communities, popularity, rng)
        keys = _union(keys, rows * net.nodes + columns)
    if shuffled:
        new_place = rng.permutation(net.nodes)
        keys = _union(
            keys[:0], new_place[keys // net.nodes] * net.nodes + new_place[keys % net.nodes]
        )
    return _from_keys(keys, (net.nodes, net.nodes))


def band(size: int = 131_072, diagonals: int = 27) -> Structure:
    """A square matrix with that many adjacent diagonals around the main one."""
    reach = diagonals // 2
    columns = np.arange(size)[:, None] + np.arange(-reach, diagonals - reach)
    inside = (columns >= 0) & (columns < size)
    pos = np.concatenate(([0], np.cumsum(inside.sum(1)))).astype(np.int32)
    return Structure(pos, columns[inside].astype(np.int32), (size, size))


def pruned(rows: int, columns: int, sparsity: float, seed: int = 0) -> Structure:
    """A weight matrix from which that share of the entries is removed at random."""
    kept = np.random.default_rng(seed).random(rows * columns) >= sparsity
    return _from_keys(np.flatnonzero(kept), (rows, columns))


def uniform(rows: int, columns: int, per_row: int, seed: int = 0) -> Structure:
    """Exactly `per_row` distinct columns in every row, evenly distributed."""
    rng = np.random.default_rng(seed)
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < rows * per_row:
        missing = per_row - np.bincount(keys // columns, minlength=rows)
        row = np.repeat(np.arange(rows), missing)
        keys = _union(keys, row * columns + rng.integers(columns, size=len(row)))
    return _from_keys(keys, (rows, columns))


MATRICES: dict[str, Callable[[int], Structure]] = {
    "cora": lambda seed: network(CORA, seed),
    "pubmed": lambda seed: network(PUBMED, seed),
    "ppi": lambda seed: network(PPI, seed),
    "ppi-shuffled": lambda seed: network(PPI, seed, shuffled=True),
    "arxiv": lambda seed: network(ARXIV, seed),
    "proteins": lambda seed: network(PROTEINS, seed),
    "reddit": lambda seed: network(REDDIT, seed),
    "reddit-shuffled": lambda seed: network(REDDIT, seed, shuffled=True),
    "band": lambda seed: band(),
    "pruned-90": lambda seed: pruned(3072, 768, 0.9, seed),
    "pruned-70": lambda seed: pruned(3072, 768, 0.7, seed),
}


def matrix(name: str, seed: int = 0) -> Structure:
    """The matrix with that name; `MATRICES` lists the names."""
    if name not in MATRICES:
        raise SystemExit(f"no matrix is called {name!r}; there are {', '.join(MATRICES)}")
    return MATRICES[name](seed)


def column_reuse(structure: Structure, window: int = 16) -> float:
    """Entries over distinct columns in windows of rows; 1 if adjacent rows share no column."""
    rows = np.repeat(np.arange(structure.shape[0]), np.diff(structure.pos))
    return structure.nnz / len(np.unique(rows // window * structure.shape[1] + structure.crd))


if __name__ == "__main__":
    for each in MATRICES:
        found = matrix(each)
        lengths = np.diff(found.pos)
        print(
            f"{each:13s} {found.shape[0]:7d} x {found.shape[1]:<7d} nnz {found.nnz:8d}"
            f"  row mean {lengths.mean():6.1f} max {lengths.max():6d}"
            f"  reuse {column_reuse(found):.2f}"
        )
