"""Sparse tensors in PyTorch's trees (pytree), and in files that torch.load reads safely."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling
from torch.utils import _pytree as pytree

from tulle.tensors import composite_pattern
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern
from tulle.tensors.sparse_tensor import SparseTensor, restored, restored_parts

# Format, numbers of the pattern, index type.
_Context = tuple[str, tuple[int, ...], torch.dtype]


def register() -> None:
    """Lets trees see the tensors inside a sparse tensor, and torch.load with weights_only read a
    pickled one."""
    pytree.register_pytree_node(
        SparseTensor,
        _flatten,
        _unflatten,
        serialized_type_name="tulle.SparseTensor",
        to_dumpable_context=_to_json,
        from_dumpable_context=_from_json,
        flatten_with_keys_fn=_flatten_with_keys,
    )
    torch.serialization.add_safe_globals([restored, restored_parts, Format])


def _flatten(tensor: SparseTensor) -> tuple[list[Tensor], _Context]:
    pattern = tensor.pattern
    return (
        [*pattern.arrays, tensor.values()],
        (str(pattern.format), pattern.numbers, pattern.index_dtype),
    )


def _flatten_with_keys(tensor: SparseTensor) -> tuple[list[tuple[Any, Tensor]], _Context]:
    children, context = _flatten(tensor)
    levels = [level for part in tensor.parts() for level in part.levels()]
    names = [f"{name}{at}" for at, level in enumerate(levels) for name in level] + ["values"]
    keys = [pytree.GetAttrKey(name) for name in names]
    return list(zip(keys, children, strict=True)), context


def _unflatten(children: Any, context: _Context) -> SparseTensor:
    """The tensor of the children. Arrays that are not those of a living pattern are checked if they
    can be: trees are also assembled from other objects than tensors."""
    *arrays, values = children
    format, numbers, index_dtype = context
    if is_compiling() and "{" not in format and "hyb" not in format:
        in_graph = Pattern.in_graph(format, tuple(numbers), tuple(arrays), index_dtype)
        return SparseTensor(in_graph, values)
    if Format(format).is_composite:
        whole = composite_pattern.reassembled(format, tuple(numbers), index_dtype, tuple(arrays))
        return SparseTensor(whole, values)
    shape = tuple(numbers)
    known = Format(format, len(shape))
    pattern = living_pattern(known, shape, tuple(arrays))
    if pattern is None:
        pattern = Pattern(known, shape, tuple(arrays), index_dtype)
        if all(type(part) is Tensor and part.device.type == "cpu" for part in (*arrays, values)):
            pattern.validate("the reassembled tensor", values)
    return SparseTensor(pattern, values)


def _to_json(context: _Context) -> list[object]:
    format, numbers, index_dtype = context
    return [format, list(numbers), str(index_dtype).removeprefix("torch.")]


def _from_json(context: list[Any]) -> _Context:
    format, numbers, index_dtype = context
    return format, tuple(numbers), getattr(torch, index_dtype)
