"""The networks that every library trains: layers of that library, with the same dense parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

DROPOUT = 0.5
LEARNING_RATE = 0.01


@dataclass(frozen=True)
class Sizes:
    """The widths of a network."""

    features: int = 128
    hidden: int = 128
    classes: int = 40
    layers: int = 3

    def widths(self) -> list[tuple[int, int]]:
        """Input and output of each layer."""
        ends = [self.features, *[self.hidden] * (self.layers - 1), self.classes]
        return list(itertools.pairwise(ends))


class Network(nn.Module):
    """Layers of a library with batch normalisation, relu and dropout in between."""

    def __init__(self, layers: list[nn.Module], sizes: Sizes) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(nn.BatchNorm1d(sizes.hidden) for _ in layers[1:])

    def forward(self, x: Tensor, graph: Any) -> Tensor:
        *inner, last = self.layers
        for layer, norm in zip(inner, self.norms, strict=True):
            x = norm(layer(x, graph))
            x = functional.dropout(functional.relu(x), DROPOUT, self.training)
        result: Tensor = last(x, graph)
        return result


# Makes a layer: inputs, outputs, and whether it is the last one.
MakeLayer = Callable[[int, int, bool], nn.Module]


def network(make: MakeLayer, sizes: Sizes) -> Network:
    """The network of layers that `make` makes."""
    widths = sizes.widths()
    last = len(widths) - 1
    return Network([make(*width, n == last) for n, width in enumerate(widths)], sizes)


class Training:
    """Full-batch training of a network with Adam."""

    def __init__(self, model: nn.Module, x: Tensor, graph: Any, labels: Tensor) -> None:
        self.model = model
        self.forward: Callable[..., Tensor] = model
        self.x, self.graph, self.labels = x, graph, labels
        self.optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)

    def step(self) -> Tensor:
        """One step. Returns the loss before it."""
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.forward(self.x, self.graph), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def losses(self, steps: int, seed: int = 0) -> list[float]:
        """The losses of some steps. The seed is that of dropout."""
        torch.manual_seed(seed)
        return [float(self.step()) for _ in range(steps)]
