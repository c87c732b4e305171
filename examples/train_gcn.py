"""Trains a graph convolutional network to find the groups of a synthetic graph.

The graph is a planted partition: nodes of the same group have more edges than nodes of different
groups. The labels of a tenth of the nodes are known. Two layers, N relu(N X W + a) V + b, over the
normalised adjacency matrix N = D^-1/2 (A + I) D^-1/2 learn the labels of the others.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor, nn
from torch.nn import functional

import tulle


def planted_partition(labels: Tensor, degree: int, mixing: float) -> Tensor:
    """Edges, [2, n]: `degree` for each node. The target of a share `mixing` of them is any node,
    that of the others a node of the same group."""
    nodes, groups = labels.numel(), int(labels.max()) + 1
    sources = torch.arange(nodes).repeat_interleave(degree)
    anywhere = torch.randint(nodes, sources.shape)
    # Node v has the label v % groups.
    steps = torch.randint(nodes // groups, sources.shape)
    in_group = steps * groups + labels[sources]
    targets = torch.where(torch.rand(sources.shape) < mixing, anywhere, in_group)
    return torch.stack([sources, targets])


def normalised_adjacency(edges: Tensor, nodes: int) -> tulle.SparseTensor:
    """D^-1/2 (A + I) D^-1/2 of an undirected graph, as CSR."""
    both = torch.cat([edges, edges.flip(0)], dim=1)
    adjacency = tulle.from_edge_index(both, num_nodes=nodes, reduce="amax")
    loops = adjacency + tulle.eye(nodes)
    scale = loops.sum(1).rsqrt()
    normalised: tulle.SparseTensor = scale[:, None] * loops * scale
    return normalised


class GCN(nn.Module):
    """Two layers with dropout."""

    def __init__(
        self, adjacency: tulle.SparseTensor, features: int, hidden: int, groups: int
    ) -> None:
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, groups)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.adjacency @ self.first(x))
        hidden = functional.dropout(hidden, 0.5, self.training)
        result: Tensor = self.adjacency @ self.second(hidden)
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--degree", type=int, default=6, help="edges that start at each node")
    parser.add_argument("--mixing", type=float, default=0.4, help="share of edges to any group")
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", action="store_true", help="use torch.compile")
    options = parser.parse_args()
    torch.manual_seed(0)

    labels = torch.arange(options.nodes) % options.groups
    edges = planted_partition(labels, options.degree, options.mixing)
    adjacency = normalised_adjacency(edges, options.nodes)
    print(f"{options.nodes:,} nodes, {adjacency.nnz:,} entries, {options.groups} groups")
    # The features say little about the group: they are mostly noise.
    x = torch.randn(options.nodes, options.features)
    x += 0.5 * functional.one_hot(labels, options.features)
    is_known = torch.rand(options.nodes) < 0.1

    model = GCN(adjacency, options.features, options.hidden, options.groups).to(options.device)
    x, labels, is_known = (one.to(options.device) for one in (x, labels, is_known))
    run = torch.compile(model) if options.compile else model
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    start = time.perf_counter()
    for epoch in range(1, options.epochs + 1):
        model.train()
        optimiser.zero_grad()
        loss = functional.cross_entropy(run(x)[is_known], labels[is_known])
        loss.backward()
        optimiser.step()
        if epoch == 1 or epoch % 10 == 0 or epoch == options.epochs:
            model.eval()
            with torch.no_grad():
                is_right = run(x).argmax(1) == labels
            print(
                f"epoch {epoch:3}: loss {loss.item():.3f}, accuracy "
                f"{is_right[is_known].float().mean():.3f} on known, "
                f"{is_right[~is_known].float().mean():.3f} on other nodes"
            )
    print(f"trained in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
