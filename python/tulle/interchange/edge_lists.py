"""Sparse matrices of graphs that are given as lists of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor

from tulle.interchange.arrays import as_dense
from tulle.library import devices, dtypes
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError
from tulle.support.text import nearest
from tulle.tensors.entry_lists import from_entries
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.own_memory import is_plain, is_traced
from tulle.tensors.sparse_tensor import SparseTensor

Reduction: TypeAlias = Literal["sum", "mean", "amax", "amin"]


@recorded
def from_edge_index(
    edge_index: Any,
    weights: Any = None,
    *,
    num_nodes: int | None = None,
    shape: Sequence[int] | None = None,
    format: str | Format = "csr",
    reduce: Reduction = "sum",
    index_dtype: torch.dtype | None = None,
) -> SparseTensor:
    """The adjacency matrix of a graph: edge e from u = edge_index[0, e] to v = edge_index[1, e] is
    the entry (u, v) with the value weights[e], or 1 without weights.

    The edges may have any order. Several edges between the same nodes become one entry, with the
    sum, mean, largest or smallest of their weights. Gradients reach the weights. The shape is
    `shape`, or `num_nodes` x `num_nodes`, or that of an EdgeIndex of torch-geometric, else the
    largest node plus 1. With several weights of each edge, [edges, heads], the result has a third
    dimension, which is dense and innermost. A graph network that sums messages at the targets of
    edges multiplies by the transpose: from_edge_index(edges).T @ x.
    """
    if shape is None and num_nodes is None and hasattr(edge_index, "get_sparse_size"):
        shape = [int(size) for size in edge_index.get_sparse_size()]
    edges = _edges(edge_index)
    sizes = _sizes(edges, num_nodes, shape)
    values = _weights(weights, edges)
    if index_dtype is not None and index_dtype not in dtypes.INDEX_DTYPES:
        raise UserError(
            f"index_dtype: expected torch.int32 or torch.int64, but found {index_dtype}."
        )
    if reduce == "sum" and values.ndim == 1:
        return from_entries(SparseTensor, format, sizes, edges, values, index_dtype)
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise UserError(
            f"from_edge_index: reduce is 'sum', 'mean', 'amax' or 'amin', but found {reduce!r}"
            f"{nearest(reduce, ('amax', 'amin', 'mean', 'sum'))}"
        )
    edges, values = _reduced(edges, values, sizes, reduce)
    if values.ndim > 1:
        return _with_heads(format, sizes, edges, values, index_dtype)
    return from_entries(SparseTensor, format, sizes, edges, values, index_dtype, is_sorted=True)


def _edges(edge_index: Any) -> Tensor:
    """The edges as an ordinary tensor of int64, [2, edges]."""
    if isinstance(edge_index, tuple | list) and len(edge_index) == 2:
        ends = [as_dense("from_edge_index", each) for each in edge_index]
        if ends[0].shape != ends[1].shape:
            raise UserError(
                f"from_edge_index: {ends[0].numel()} sources and {ends[1].numel()} targets were "
                "given; give as many of both."
            )
        edge_index = torch.stack(ends)
    edges = edge_index if isinstance(edge_index, Tensor) else as_dense("edge_index", edge_index)
    if type(edges) is not Tensor and not is_traced(edges):
        edges = edges.as_subclass(Tensor)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise UserError(
            "from_edge_index: expected the sources and targets of edges, [2, number of edges], but "
            f"found the shape {list(edges.shape)}; transpose a list of pairs with edges.T."
        )
    if edges.numel() == 0:
        edges = edges.to(torch.int64)
    if edges.dtype not in dtypes.INDEX_DTYPES:
        raise UserError(f"from_edge_index: nodes are int32 or int64, not {edges.dtype}.")
    devices.check("edge_index", edges.device)
    return edges.detach().to(torch.int64)


def _sizes(edges: Tensor, num_nodes: int | None, shape: Sequence[int] | None) -> tuple[int, int]:
    """The shape of the matrix, which holds all edges."""
    if not is_plain(edges):
        return _given_sizes(num_nodes, shape)
    ends = torch.zeros(2, 2, dtype=torch.int64)
    if edges.shape[1]:
        ends = torch.stack(torch.aminmax(edges, dim=1)).cpu()
    (lowest, least), (rows, columns) = ends.tolist()
    if edges.shape[1] == 0:
        rows = columns = -1
    if shape is None and num_nodes is None:
        num_nodes = max(rows, columns) + 1
    sizes = _given_sizes(num_nodes, shape)
    for name, low, high, size in (
        ("source", lowest, rows, sizes[0]),
        ("target", least, columns, sizes[1]),
    ):
        if low < 0 or high >= size:
            raise UserError(
                f"from_edge_index: the {name} {low if low < 0 else high} of an edge is outside "
                f"[0, {size}); give the number of nodes with num_nodes= or shape=."
            )
    return sizes


def _given_sizes(num_nodes: int | None, shape: Sequence[int] | None) -> tuple[int, int]:
    """The shape of the matrix as the caller gives it. In a graph of torch.compile, the run checks
    that it holds all edges."""
    if shape is not None and num_nodes is not None:
        raise UserError("from_edge_index: give one of num_nodes and shape.")
    if shape is None and num_nodes is None:
        raise UserError(
            "from_edge_index: the largest node is not known while torch traces the function; give "
            "the number of nodes with num_nodes= or shape=."
        )
    sizes = shape_of("from_edge_index", (num_nodes, num_nodes) if shape is None else shape)
    if len(sizes) != 2:
        raise UserError(f"from_edge_index: the shape has two sizes, but found {sizes}.")
    if sizes[0] * sizes[1] >= 2**63:
        raise UserError(f"from_edge_index: {sizes} has 2^63 elements or more; number fewer nodes.")
    return sizes[0], sizes[1]


def _weights(weights: Any, edges: Tensor) -> Tensor:
    if weights is None:
        return torch.ones(edges.shape[1], device=edges.device)
    values = weights if isinstance(weights, Tensor) else as_dense("weights", weights)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.shape[0] != edges.shape[1]:
        raise UserError(
            f"from_edge_index: expected a weight for each of {edges.shape[1]} edges, or a row of "
            f"weights for each, but found the shape {list(values.shape)}."
        )
    dtypes.name_of(values.dtype)
    if values.device != edges.device:
        raise UserError(
            f"from_edge_index: the edges are on {edges.device}, but the weights on "
            f"{values.device}. Move one of them with .to(device)."
        )
    return values.resolve_neg()


def _reduced(
    edges: Tensor, values: Tensor, sizes: tuple[int, int], reduce: str
) -> tuple[Tensor, Tensor]:
    """The different edges in ascending order, and the reduced values of each."""
    if reduce == "mean" and not values.dtype.is_floating_point:
        raise UserError(
            f"from_edge_index: the mean of {values.dtype} is no integer; convert the weights with "
            "float()."
        )
    keys = edges[0] * sizes[1] + edges[1]
    if not is_plain(edges):  # nodes that the matrix does not have get the row behind the last one
        size = torch.tensor(sizes, device=edges.device)[:, None]
        keys = torch.where(((edges >= 0) & (edges < size)).all(0), keys, sizes[0] * sizes[1])
    numbers, where = torch.unique(keys, return_inverse=True)
    columns = max(sizes[1], 1)
    distinct = torch.stack([torch.div(numbers, columns, rounding_mode="floor"), numbers % columns])
    start = values.new_zeros(numbers.shape[0], *values.shape[1:])
    where = where.reshape(-1, *[1] * (values.ndim - 1)).expand_as(values)
    return distinct, start.scatter_reduce(0, where, values, reduce, include_self=False)


def _with_heads(
    format: str | Format,
    sizes: tuple[int, int],
    edges: Tensor,
    values: Tensor,
    index_dtype: torch.dtype | None,
) -> SparseTensor:
    """The tensor of sorted edges with several values each. Padding gets zeros."""
    listed = torch.arange(1, values.shape[0] + 1, device=values.device)
    found = from_entries(SparseTensor, format, sizes, edges, listed, index_dtype, is_sorted=True)
    padded = torch.cat([values.new_zeros(1, values.shape[1]), values])
    return found.with_values(padded[found.values().clamp(0, values.shape[0])])
