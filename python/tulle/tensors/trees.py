"""Sparse tensors in PyTorch's trees (pytree), and in files that torch.load reads safely."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling
from torch.utils import _pytree as pytree

from tulle.library import dtypes
from tulle.support.errors import UserError
from tulle.tensors.assembled_pattern import assembled
from tulle.tensors.composite_pattern import pattern_in_graph, taken_apart
from tulle.tensors.formats import Format
from tulle.tensors.own_memory import is_plain
from tulle.tensors.pattern import Pattern, living_pattern
from tulle.tensors.sparse_tensor import SparseTensor, restored

_NAME = "the reassembled tensor"
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
    torch.serialization.add_safe_globals([restored, Format])


def _flatten(tensor: SparseTensor) -> tuple[list[Tensor], _Context]:
    pattern = tensor.pattern
    return (
        [*pattern.arrays, tensor.values()],
        (pattern._format_text, pattern.numbers, pattern.index_dtype),
    )


def _flatten_with_keys(tensor: SparseTensor) -> tuple[list[tuple[Any, Tensor]], _Context]:
    children, context = _flatten(tensor)
    levels = [level for part in tensor.parts() for level in part.levels()]
    # As wide as the last number, because torch.export looks for names as text: no name may begin
    # with another one.
    width = len(str(len(levels) - 1))
    names = [f"{name}{at:0{width}}" for at, level in enumerate(levels) for name in level]
    names.append("values")
    keys = [pytree.GetAttrKey(name) for name in names]
    return list(zip(keys, children, strict=True)), context


def _unflatten(children: Any, context: _Context) -> SparseTensor:
    """The tensor of the children. Arrays that are not those of a living pattern are checked, unless
    torch traces them or they are other objects than tensors."""
    *arrays, values = children
    format, numbers, index_dtype = context
    if is_compiling():
        rank = len(numbers) - _count_parts(format)
        shape, counts = tuple(numbers[:rank]), tuple(numbers[rank:])
        in_graph = pattern_in_graph(format, shape, tuple(arrays), index_dtype, counts)
        return SparseTensor(in_graph, values)
    pattern = _living(format, tuple(numbers), tuple(arrays))
    if pattern is None and all(isinstance(part, Tensor) and is_plain(part) for part in children):
        pattern = assembled(_NAME, format, numbers, arrays, values, index_dtype)
    elif pattern is None:
        pattern = _unchecked(format, tuple(numbers), tuple(arrays), index_dtype)
    elif isinstance(values, Tensor) and is_plain(values):
        _check_values(pattern, values)
    return SparseTensor(pattern, values)


def _count_parts(format: str) -> int:
    """The number of parts of a composite format; 0 for any other format."""
    return len(Format(format, 2).parts)


# What torch.compiler.assume_constant_result does, which would import Dynamo (`formats`).
_count_parts._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _living(format: str, numbers: tuple[int, ...], arrays: tuple[Any, ...]) -> Pattern | None:
    """The living pattern that consists of these arrays."""
    if _count_parts(format):
        return None
    return living_pattern(Format(format, len(numbers)), numbers, arrays)


def _check_values(pattern: Pattern, values: Tensor) -> None:
    count = pattern.count_slots()
    if values.shape != (count,):
        raise UserError(
            f"{_NAME}: expected a vector of {count} values, one for each value of the structure, "
            f"but found the shape {list(values.shape)}."
        )


def _unchecked(
    format: str, numbers: tuple[int, ...], arrays: tuple[Any, ...], index_dtype: torch.dtype
) -> Pattern:
    """A pattern that is checked before its first use."""
    if _count_parts(format):
        _, shape, counts = taken_apart(format, numbers)
        return pattern_in_graph(format, shape, arrays, index_dtype, counts)
    return Pattern.in_graph(format, numbers, arrays, index_dtype)


def _to_json(context: _Context) -> list[object]:
    format, numbers, index_dtype = context
    return [format, list(numbers), str(index_dtype).removeprefix("torch.")]


def _from_json(context: Any) -> _Context:
    if not isinstance(context, list) or len(context) != 3 or not isinstance(context[1], list):
        raise UserError(f"{_NAME}: expected a format, sizes and an index type, found {context!r}.")
    format, numbers, index_dtype = context
    types = {dtypes.torch_name(dtype): dtype for dtype in dtypes.INDEX_DTYPES}
    if index_dtype not in types:
        raise UserError(f"{_NAME}: expected the index type int32 or int64, found {index_dtype!r}.")
    return format, tuple(numbers), types[index_dtype]
