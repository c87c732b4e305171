"""Conversions between formats: a program copies the entries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.operators.index_notation import index_names
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.graph_calls import is_traced
from tulle.programs.program import Operand, statement_program
from tulle.support.errors import Unsupported
from tulle.tensors.composite_pattern import composed
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


@recorded
def convert_format(source: SparseTensor, format: str | Format) -> SparseTensor | Tensor:
    """The tensor in this format, on the same device; an ordinary tensor if the format is dense."""
    format = Format(format).of_rank(source.ndim)
    if format == source.format:
        return source
    return _in_parts(source, format) if format.is_composite else _copied(source, format)


def _copied(source: SparseTensor, format: Format) -> SparseTensor | Tensor:
    result: SparseTensor | Tensor = _copy(str(format)).run_on_one(source)
    return result


@lru_cache(maxsize=1024)
def _copy(format: str) -> CallSite:
    """The copy of a tensor into a format."""

    def prepare(operands: Sequence[Operand]) -> Prepared:
        indices = ",".join(index_names(operands[0].ndim))
        text = f"T[{indices}] = A[{indices}]"
        return statement_program(text, (("T", format),)), ("A",), operands

    return CallSite(prepare)


def _in_parts(source: SparseTensor, format: Format) -> SparseTensor:
    """The tensor in a composite format. Its entries are sorted and distributed to the parts, and
    each part is converted to its format."""
    if is_traced([source]):
        raise Unsupported(
            "Graphs of torch.compile and torch.export do not convert to composite formats, such as "
            f"{format}; convert the tensor outside of the function."
        )
    entries = source.to(format=Format(format.sorted_entries, source.ndim))
    pattern, values = entries.pattern, entries.values()
    pattern.hold()  # the library knows the arrays, and does not check them again
    spec = pattern.spec(values.dtype)
    order, counts = bindings.select_parts(
        str(format), spec, pattern.sizes, [*pattern.arrays, values]
    )
    parts: list[tuple[Pattern, Tensor]] = []
    for wanted, chosen in zip(format.parts, order.split(counts.tolist()), strict=True):
        pos = torch.tensor([0, chosen.numel()], dtype=pattern.index_dtype, device=source.device)
        arrays = (pos, *(crd[chosen] for crd in pattern.arrays[1:]))
        part = SparseTensor(pattern.with_arrays(arrays, pattern.index_dtype), values[chosen])
        converted = part.to(format=wanted.format)
        parts.append((converted.pattern, converted.values()))
    return SparseTensor(*composed(format, pattern.shape, parts))
