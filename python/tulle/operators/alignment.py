"""Operands as values in one storage order: the element of each at every entry of one pattern."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from tulle.operators.arithmetic import binary, pads
from tulle.operators.index_notation import access, index_names
from tulle.programs.call_sites import CallSite
from tulle.programs.program import Operand, statement_program
from tulle.tensors.formats import Format
from tulle.tensors.matching import matched_once
from tulle.tensors.sparse_tensor import SparseTensor


def without_duplicates(tensor: SparseTensor) -> SparseTensor:
    """The tensor, whose storage holds no coordinate several times."""
    if "nonunique" not in tensor._pattern._format_text:  # formats with a name hold no duplicates
        return tensor
    return tensor.to(format="coo") if _may_repeat(str(tensor.format), tensor.ndim) else tensor


@lru_cache(maxsize=1024)
def _may_repeat(format: str, rank: int) -> bool:
    """Whether a format may hold a coordinate several times. A level without duplicates below the
    last level with duplicates excludes them if it continues the same slots."""
    kinds = Format(format, rank).long_form.rpartition("(")[2].split(",")
    last = max(at for at, kind in enumerate(kinds) if "nonunique" in kind)
    return last + 1 == len(kinds) or "singleton" not in kinds[last + 1]


def with_single_entries(tensor: SparseTensor) -> SparseTensor:
    """The tensor in a format in which no coordinate has two slots. Parts of composite tensors may
    hold padding at a coordinate that another part holds, too."""
    if tensor.format.is_composite and pads(tensor):
        return tensor.to(format=Format(tensor.format.sorted_entries, tensor.ndim))
    return without_duplicates(tensor)


# ---- shapes ------------------------------------------------------------------------------------


def expanded(tensor: SparseTensor, shape: tuple[int, ...]) -> SparseTensor:
    """The tensor with this shape, to which its own shape broadcasts."""
    if tuple(tensor.shape) == shape:
        return tensor
    own = (1,) * (len(shape) - tensor.ndim) + tuple(tensor.shape)
    widened = tuple(
        at
        for at, (size, wanted) in enumerate(zip(own, shape, strict=True))
        if size != wanted or at < len(shape) - tensor.ndim
    )
    ones = [torch.ones(shape[at], dtype=tensor.dtype, device=tensor.device) for at in widened]
    result: SparseTensor = _expansion(len(shape), tensor.ndim, widened).run((tensor, *ones))
    return result


@lru_cache(maxsize=1024)
def _expansion(rank: int, own_rank: int, widened: tuple[int, ...]) -> CallSite:
    """The call site of a tensor repeated along some dimensions of the result."""
    names = ("A", *(f"u{at}" for at in widened))
    indices = index_names(rank)
    own = [f"one_{index}" if at in widened else index for at, index in enumerate(indices)]
    factors = [access("A", own[rank - own_rank :])]
    factors += [access(f"u{at}", [indices[at]]) for at in widened]
    text = f"{access('C', indices)} = {' * '.join(factors)}"
    program = statement_program(text, (("C", "coo"),))
    return CallSite(lambda operands: (program, names, operands))


# ---- values ------------------------------------------------------------------------------------


def ones_like(tensor: SparseTensor, dtype: torch.dtype) -> SparseTensor:
    """A tensor with the value 1 at all entries."""
    return SparseTensor(tensor._pattern, torch.ones_like(tensor._values, dtype=dtype).detach())


def values_at(operand: Operand, target: SparseTensor) -> Tensor:
    """The elements of the operand at the entries of `target`, in its storage order."""
    if isinstance(operand, Tensor):
        if operand.ndim == 0:
            return operand
        found = binary("*", ones_like(target, operand.dtype), operand)
        assert isinstance(found, SparseTensor)
        return found._values
    if operand._pattern is target._pattern:
        return operand._values
    source = with_single_entries(operand)
    return matched_once(source._values, source._pattern, target._pattern)


def on_union(tensors: Sequence[SparseTensor]) -> list[SparseTensor]:
    """The tensors with the entries of all of them, in the same order."""
    return _combined("+", torch.zeros_like, tensors)


def on_intersection(tensors: Sequence[SparseTensor]) -> list[SparseTensor]:
    """The tensors with the entries that all of them have, in the same order."""
    return _combined("*", torch.ones_like, tensors)


def _combined(operator: str, neutral: Any, tensors: Sequence[SparseTensor]) -> list[SparseTensor]:
    """Combines each tensor with neutral elements at the entries of the others. All results have the
    same entries in the same order, because neither depends on values."""
    first = tensors[0]
    if all(tensor._pattern is first._pattern for tensor in tensors):
        return list(tensors)
    site = _combination(operator, first.ndim, len(tensors))
    results: list[SparseTensor] = []
    for at, chosen in enumerate(tensors):
        terms = [
            SparseTensor(tensor._pattern, neutral(tensor._values, dtype=chosen.dtype).detach())
            for tensor in tensors
        ]
        terms[at] = chosen
        results.append(site.run(terms))
        torch._check(results[-1]._values.numel() == results[0]._values.numel())
    return results


@lru_cache(maxsize=256)
def _combination(operator: str, rank: int, count: int) -> CallSite:
    """The call site of a sum or product of that many tensors."""
    names = tuple(f"t{n}" for n in range(count))
    indices = index_names(rank)
    terms = [access(name, indices) for name in names]
    program = statement_program(f"{access('C', indices)} = {f' {operator} '.join(terms)}")
    return CallSite(lambda operands: (program, names, operands))
