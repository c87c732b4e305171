"""Layers with Tulle. Their parameters have the names and shapes of those in `by_torch`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import tulle
from training import by_torch
from training.graphs import Edges

MAXIMUM = "M[i,k] = max(j in A[i,j], X[j,k], empty=0)"
ATTENTION = """
    E[i,j,h] = within(A[i,j], T[i,h] + S[j,h])
    O[i,h,d] = softmax(j in A[i,j], max(E[i,j,h], 0.2 * E[i,j,h])) * V[j,h,d]"""


@dataclass(frozen=True)
class Graph:
    """Matrices in CSR with one pattern."""

    sums: tulle.SparseTensor
    means: tulle.SparseTensor
    normalised: tulle.SparseTensor


def graph(edges: Edges) -> Graph:
    ones = torch.ones_like(edges.mean_weights)
    storage = [{}, {"pos": edges.positions, "crd": edges.sources}]
    sums = tulle.from_levels("csr", edges.shape, storage, ones)
    return Graph(
        sums, sums.with_values(edges.mean_weights), sums.with_values(edges.normalised_weights)
    )


class GCN(by_torch.GCN):
    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return graph.normalised @ self.lin(x) + self.bias


class SAGE(by_torch.SAGE):
    def aggregated(self, x: Tensor, graph: Graph) -> Tensor:
        return graph.means @ x


class SAGEMax(by_torch.SAGE):
    def aggregated(self, x: Tensor, graph: Graph) -> Tensor:
        return tulle.compute(MAXIMUM, A=graph.sums, X=x)


class GIN(by_torch.GIN):
    def aggregated(self, x: Tensor, graph: Graph) -> Tensor:
        return graph.sums @ x


class GAT(by_torch.GAT):
    def attended(self, h: Tensor, from_source: Tensor, to_target: Tensor, graph: Graph) -> Tensor:
        return tulle.compute(ATTENTION, A=graph.sums, T=to_target, S=from_source, V=h)


class PrunedLinear(by_torch.PrunedLinear):
    def __init__(self, positions: Tensor, columns: Tensor, values: Tensor, inputs: int) -> None:
        super().__init__(positions, columns, values, inputs)
        # Copies, because load_state_dict writes to the buffers.
        storage = [{}, {"pos": positions.clone(), "crd": columns.clone()}]
        self.weight = tulle.from_levels("csr", self.shape, storage, values)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """What `to` and `cuda` call to move parameters and buffers."""
        super()._apply(fn, recurse)
        self.weight = self.weight.to(device=self.values.device)
        return self

    def forward(self, x: Tensor, _: object) -> Tensor:
        product: Tensor = self.weight.with_values(self.values) @ x.T
        return product.T + self.bias
