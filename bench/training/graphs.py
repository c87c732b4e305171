"""The graph of a training, as all libraries get it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Edges(NamedTuple):
    """Edges with loops, sorted by target, then by source. Row i of CSR has the sources of the edges
    to node i."""

    positions: Tensor
    targets: Tensor
    sources: Tensor
    mean_weights: Tensor  # one over the in-degree of the target
    normalised_weights: Tensor  # of a graph convolution

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.positions) - 1,) * 2


def edges_of(targets: Tensor, sources: Tensor, nodes: int) -> Edges:
    """The edges between these ends, without duplicates, and a loop at each node."""
    loops = torch.arange(nodes, device=targets.device)
    keys = torch.cat([targets.long() * nodes + sources, loops * nodes + loops]).unique()
    rows, columns = keys // nodes, keys % nodes
    degrees = torch.bincount(rows, minlength=nodes)
    positions = torch.cat([degrees.new_zeros(1), degrees.cumsum(0)])
    means = degrees.float().reciprocal()
    roots = degrees.float().rsqrt()
    return Edges(
        positions.int(), rows.int(), columns.int(), means[rows], roots[rows] * roots[columns]
    )
