"""The networks by name, in each library."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from training.graphs import Edges
from training.networks import Sizes, Training, network

HEADS = 8

# The modules of the libraries by the names that tables show. The first one is the reference.
LIBRARIES = {
    "torch.sparse": "training.by_torch",
    "torch-geometric": "training.by_geometric",
    "tulle": "training.by_tulle",
}


def available() -> list[str]:
    """The libraries that can be imported."""
    needed = {"torch-geometric": "torch_geometric", "tulle": "tulle"}
    return [name for name in LIBRARIES if importlib.util.find_spec(needed.get(name, "torch"))]


def _plain(name: str) -> Callable[[ModuleType, Sizes], nn.Module]:
    """A network of layers of this class."""

    def make(library: ModuleType, sizes: Sizes) -> nn.Module:
        layer = getattr(library, name)
        return network(lambda inputs, outputs, _: layer(inputs, outputs), sizes)

    return make


def _attention(heads: int) -> Callable[[ModuleType, Sizes], nn.Module]:
    def make(library: ModuleType, sizes: Sizes) -> nn.Module:
        return network(
            lambda inputs, outputs, is_last: library.GAT(inputs, outputs, 1 if is_last else heads),
            sizes,
        )

    return make


def _pruned(library: ModuleType, sizes: Sizes) -> nn.Module:
    """A perceptron whose weight matrices keep a tenth of their entries."""
    generator = torch.Generator().manual_seed(0)

    def layer(inputs: int, outputs: int, _: bool) -> nn.Module:
        kept = torch.rand(outputs, inputs, generator=generator) < 0.1
        rows, columns = kept.nonzero().int().T.contiguous()
        positions = torch.zeros(outputs + 1, dtype=torch.int32)
        positions[1:] = torch.bincount(rows, minlength=outputs).cumsum(0)
        values = torch.randn(len(rows), generator=generator) / (0.1 * inputs) ** 0.5
        module: nn.Module = library.PrunedLinear(positions, columns, values, inputs)
        return module

    return network(layer, sizes)


MODELS: dict[str, Callable[[ModuleType, Sizes], nn.Module]] = {
    "GCN": _plain("GCN"),
    "GraphSAGE mean": _plain("SAGE"),
    "GraphSAGE max": _plain("SAGEMax"),
    "GIN": _plain("GIN"),
    "GAT, 1 head": _attention(1),
    "GAT, 8 heads": _attention(HEADS),
    "pruned MLP": _pruned,
}


def has(model: str, library: str) -> bool:
    """Whether the library has the layers of the network."""
    return library != "torch-geometric" or model != "pruned MLP"


def training(
    model: str, library: str, edges: Edges | None, x: Tensor, labels: Tensor, sizes: Sizes
) -> Training:
    """The training of a network with a library. Every library starts from the same parameters."""
    torch.manual_seed(0)
    reference = MODELS[model](importlib.import_module(LIBRARIES["torch.sparse"]), sizes)
    module = importlib.import_module(LIBRARIES[library])
    made = MODELS[model](module, sizes)
    made.load_state_dict(reference.state_dict())
    graph: Any = None if edges is None else module.graph(edges)
    return Training(made.to(x.device), x, graph, labels)
