"""What a network is trained on: a synthetic graph with the size of a data set, and random nodes."""

from __future__ import annotations

from typing import NamedTuple

import graphs
import numpy as np
import torch
from torch import Tensor

from training import models
from training.graphs import Edges, edges_of
from training.networks import Sizes, Training


class Problem(NamedTuple):
    """Features and labels of the nodes of a graph."""

    edges: Edges
    x: Tensor
    labels: Tensor
    sizes: Sizes

    def training(self, model: str, library: str) -> Training:
        """Of a network with a library. The pruned perceptron ignores the graph."""
        return models.training(model, library, self.edges, self.x, self.labels, self.sizes)


def of_graph(name: str, device: str, sizes: Sizes | None = None) -> Problem:
    """The problem on one of `graphs.MATRICES`."""
    structure = graphs.matrix(name)
    lengths = np.diff(structure.pos)
    rows = torch.from_numpy(np.repeat(np.arange(structure.shape[0]), lengths)).to(device)
    columns = torch.from_numpy(structure.crd).to(device)
    return _with_features(edges_of(rows, columns, structure.shape[0]), sizes or Sizes())


def small(device: str, sizes: Sizes | None = None, nodes: int = 200) -> Problem:
    """A problem that takes no time."""
    draw = torch.Generator().manual_seed(0)
    ends = torch.randint(nodes, (2, 5 * nodes), generator=draw).to(device)
    return _with_features(edges_of(ends[0], ends[1], nodes), sizes or Sizes())


def _with_features(edges: Edges, sizes: Sizes) -> Problem:
    draw = torch.Generator().manual_seed(0)
    nodes, device = edges.shape[0], edges.sources.device
    x = torch.randn(nodes, sizes.features, generator=draw).to(device)
    labels = torch.randint(sizes.classes, (nodes,), generator=draw).to(device)
    return Problem(edges, x, labels, sizes)
