"""Layers with torch.sparse. What torch.sparse cannot do uses one row per edge, as scatter does."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.graphs import Edges


@dataclass(frozen=True)
class Graph:
    """Matrices in CSR, and the ends of all edges sorted by target."""

    sums: Tensor
    means: Tensor
    normalised: Tensor
    targets: Tensor
    sources: Tensor


def graph(edges: Edges) -> Graph:
    def matrix(values: Tensor) -> Tensor:
        return torch.sparse_csr_tensor(
            edges.positions, edges.sources, values, edges.shape, check_invariants=False
        )

    return Graph(
        matrix(torch.ones_like(edges.mean_weights)),
        matrix(edges.mean_weights),
        matrix(edges.normalised_weights),
        edges.targets,
        edges.sources,
    )


class GCN(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return torch.sparse.mm(graph.normalised, self.lin(x)) + self.bias


class SAGE(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin_l = nn.Linear(inputs, outputs)
        self.lin_r = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return self.lin_l(self.aggregated(x, graph)) + self.lin_r(x)

    def aggregated(self, x: Tensor, graph: Graph) -> Tensor:
        return torch.sparse.mm(graph.means, x)


class SAGEMax(SAGE):
    def aggregated(self, x: Tensor, graph: Graph) -> Tensor:
        if x.device.type == "cpu":
            return torch.sparse.mm(graph.sums, x, "amax")
        targets = graph.targets.long()[:, None].expand(-1, x.shape[1])
        rows = x.index_select(0, graph.sources)
        return x.new_zeros(x.shape).scatter_reduce(0, targets, rows, "amax", include_self=False)


class GIN(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.nn = nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        result: Tensor = self.nn(self.aggregated(x, graph) + (1 + self.eps) * x)
        return result

    def aggregated(self, x: Tensor, graph: Graph) -> Tensor:
        return torch.sparse.mm(graph.sums, x)


class GAT(nn.Module):
    """Attention with several heads, whose outputs are concatenated; the last layer has one."""

    def __init__(self, inputs: int, outputs: int, heads: int) -> None:
        super().__init__()
        width = outputs // heads
        self.heads = heads
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, width) / width**0.5)
        self.att_dst = nn.Parameter(torch.randn(1, heads, width) / width**0.5)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        h = self.lin(x).view(len(x), self.heads, -1)
        from_source = torch.einsum("nhd,xhd->nh", h, self.att_src)
        to_target = torch.einsum("nhd,xhd->nh", h, self.att_dst)
        return self.attended(h, from_source, to_target, graph).flatten(1) + self.bias

    def attended(self, h: Tensor, from_source: Tensor, to_target: Tensor, graph: Graph) -> Tensor:
        targets, sources = graph.targets, graph.sources
        scores = from_source.index_select(0, sources) + to_target.index_select(0, targets)
        scores = functional.leaky_relu(scores, 0.2)
        wide = targets.long()[:, None].expand_as(scores)
        largest = torch.full_like(to_target, -torch.inf)
        largest = largest.scatter_reduce(0, wide, scores.detach(), "amax")
        powers = (scores - largest.index_select(0, targets)).exp()
        sums = torch.zeros_like(to_target).index_add(0, targets, powers)
        weights = powers / sums.index_select(0, targets)
        messages = h.index_select(0, sources) * weights[..., None]
        return torch.zeros_like(h).index_add(0, targets, messages)


class PrunedLinear(nn.Module):
    """A pruned weight matrix in CSR, of which the values are learned."""

    def __init__(self, positions: Tensor, columns: Tensor, values: Tensor, inputs: int) -> None:
        super().__init__()
        self.register_buffer("positions", positions)
        self.register_buffer("columns", columns)
        self.values = nn.Parameter(values)
        self.bias = nn.Parameter(torch.zeros(len(positions) - 1))
        self.shape = (len(positions) - 1, inputs)

    def forward(self, x: Tensor, _: object) -> Tensor:
        weight = torch.sparse_csr_tensor(
            self.positions, self.columns, self.values, self.shape, check_invariants=False
        )
        return torch.sparse.mm(weight, x.T).T + self.bias
