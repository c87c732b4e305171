"""Adjacency matrices of the graphs of networkx and torch-geometric, which are not imported."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.interchange.edge_lists import from_edge_index
from tulle.library import dtypes
from tulle.support.errors import UserError
from tulle.support.kinds import is_from
from tulle.tensors.sparse_tensor import SparseTensor


def is_graph(value: object) -> bool:
    """Whether it is a graph of networkx, or a graph or an EdgeIndex of torch-geometric."""
    if is_from("networkx", value):
        return hasattr(value, "edges") and hasattr(value, "is_directed")
    return is_from("torch_geometric", value) and (
        _is_edge_index(value) or hasattr(value, "edge_index") or hasattr(value, "edge_types")
    )


def from_graph(graph: Any) -> SparseTensor:
    """The adjacency matrix: an edge from u to v is the entry (u, v). Duplicates are summed."""
    if is_from("networkx", graph):
        return _from_networkx(graph)
    if _is_edge_index(graph):
        return from_edge_index(graph)
    if hasattr(graph, "edge_types"):
        raise UserError(
            "tensor: a graph with several types of edges has several matrices. Make one of them: "
            "tulle.from_edge_index(data[type].edge_index, shape=(sources, targets))."
        )
    if graph.edge_index is None:
        raise UserError(
            "tensor: the graph has no edge_index; if it has adj_t, write tulle.tensor(data.adj_t)."
        )
    weights = getattr(graph, "edge_weight", None)
    if weights is None:
        attributes = getattr(graph, "edge_attr", None)
        if isinstance(attributes, Tensor) and (
            attributes.ndim == 1 or attributes.shape[1:] == (1,)
        ):
            weights = attributes
    if _is_edge_index(graph.edge_index) and None not in _given_size(graph.edge_index):
        return from_edge_index(graph.edge_index, weights)
    return from_edge_index(graph.edge_index, weights, num_nodes=graph.num_nodes)


def _is_edge_index(value: Any) -> bool:
    return isinstance(value, Tensor) and hasattr(value, "get_sparse_size")


def _given_size(edge_index: Any) -> tuple[Any, ...]:
    """The size that an EdgeIndex was made with: None for unknown numbers of nodes."""
    given = getattr(edge_index, "sparse_size", edge_index.get_sparse_size)
    return tuple(given())


def _from_networkx(graph: Any) -> SparseTensor:
    """The nodes are numbered in the order of `graph.nodes`. The values are the attribute "weight"
    of the edges, or 1, as in networkx. An undirected edge gives two entries."""
    numbers = {node: at for at, node in enumerate(graph.nodes)}
    found = list(graph.edges(data="weight", default=1))
    sources = torch.tensor([numbers[edge[0]] for edge in found], dtype=torch.int64)
    targets = torch.tensor([numbers[edge[1]] for edge in found], dtype=torch.int64)
    try:
        weights = torch.tensor([edge[2] for edge in found]) if found else torch.zeros(0)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(
            f'tensor: the attribute "weight" of an edge is no number: {error}. Remove it, or give '
            "the weights to tulle.from_edge_index."
        ) from None
    if weights.dtype not in dtypes.NAMES:
        raise UserError(f"tensor: weights of the type {weights.dtype} are not supported.")
    if not graph.is_directed():
        mirrored = (sources != targets).nonzero()[:, 0]
        sources, targets = (
            torch.cat([sources, targets[mirrored]]),
            torch.cat([targets, sources[mirrored]]),
        )
        weights = torch.cat([weights, weights[mirrored]])
    return from_edge_index(torch.stack([sources, targets]), weights, num_nodes=len(numbers))
