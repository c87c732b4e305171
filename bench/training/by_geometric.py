"""Layers of torch-geometric. Their parameters have the names and shapes of those in `by_torch`."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

from training.graphs import Edges


class Graph:
    """The edges as torch-geometric takes them."""

    def __init__(self, edges: Edges) -> None:
        self.edge_index = torch.stack([edges.sources, edges.targets]).long()
        self.normalised_weights = edges.normalised_weights


def graph(edges: Edges) -> Graph:
    return Graph(edges)


class GCN(GCNConv):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, normalize=False)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return super().forward(x, graph.edge_index, graph.normalised_weights)


class SAGE(SAGEConv):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return super().forward(x, graph.edge_index)


class SAGEMax(SAGEConv):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, aggr="max")

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return super().forward(x, graph.edge_index)


class GIN(GINConv):
    def __init__(self, inputs: int, outputs: int) -> None:
        inner = nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))
        super().__init__(inner, train_eps=True)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return super().forward(x, graph.edge_index)


class GAT(GATConv):
    def __init__(self, inputs: int, outputs: int, heads: int) -> None:
        super().__init__(inputs, outputs // heads, heads, add_self_loops=False)

    def forward(self, x: Tensor, graph: Graph) -> Tensor:
        return super().forward(x, graph.edge_index)
