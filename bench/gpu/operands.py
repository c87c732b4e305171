"""Graphs on the GPU, as operands of Tulle and torch."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import graphs
import torch

MEMORY_SHARE = 0.6  # of the GPU's memory, for the operands and results of one case


@dataclass(frozen=True)
class Graph:
    """A square CSR matrix with positive float32 values on the GPU."""

    name: str
    nodes: int
    pos: torch.Tensor
    crd: torch.Tensor
    values: torch.Tensor

    @property
    def nnz(self) -> int:
        return len(self.crd)

    @functools.cached_property
    def torch_csr(self) -> torch.Tensor:
        size = (self.nodes, self.nodes)
        return torch.sparse_csr_tensor(
            self.pos, self.crd, self.values, size=size, check_invariants=False
        )

    @functools.cached_property
    def rows(self) -> torch.Tensor:
        """The row of every entry."""
        every = torch.arange(self.nodes, device=self.pos.device)
        return torch.repeat_interleave(every, self.pos.diff().long())

    def tulle(self, package: ModuleType) -> Any:
        return package.tensor(self.torch_csr)

    def dense(self, width: int, seed: int = 0) -> torch.Tensor:
        """A random matrix with a row of that many features for each node."""
        draw = torch.Generator("cuda").manual_seed(seed)
        return torch.rand(self.nodes, width, generator=draw, device="cuda")

    def fits(self, width: int, matrices: int) -> bool:
        """Whether that many dense matrices of that width fit into memory besides the graph."""
        room = torch.cuda.get_device_properties(0).total_memory * MEMORY_SHARE
        return 4 * self.nodes * width * matrices + 12 * self.nnz < room


@functools.lru_cache(maxsize=1)
def graph(name: str) -> Graph:
    """The matrix with that name, with the same values on every machine. The last one is cached."""
    found = graphs.matrix(name)
    pos, crd = (torch.from_numpy(array).cuda() for array in (found.pos, found.crd))
    draw = torch.Generator("cuda").manual_seed(0)
    values = torch.rand(found.nnz, generator=draw, device="cuda")
    return Graph(name, found.shape[0], pos, crd, values)


def close(name: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Raises an error if a result differs from the reference by more than rounding."""
    size = float(wanted.abs().max())
    torch.testing.assert_close(
        found, wanted, rtol=1e-4, atol=1e-4 * size, msg=lambda text: f"{name}: {text}"
    )
