"""Programs bound to a pattern: the remembered form of a product with a dense tensor.

A bound call holds the arrays of the pattern but not the pattern, which holds the call: the pattern
is freed with its last user.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.library.bindings import CallByNumber, CallInto
from tulle.programs.outputs import increment_version
from tulle.tensors.pattern import Pattern, check_version

# Takes the values of the sparse tensor and the dense tensor.
Compute = Callable[[Tensor, Tensor], Tensor]
# Takes the tensor for the result first.
Fill = Callable[[Tensor, Tensor, Tensor], None]


def bind(pattern: Pattern, key: str) -> tuple[Compute, Fill]:
    """The program with this key for a sparse tensor with this pattern and a dense tensor: as a
    function that returns the result, and as one that writes it to a tensor."""
    arrays, version = pattern.arrays, pattern.version
    count = len(arrays) + 1
    structure = [~pattern.structure] if pattern.structure else []
    numbers = [bindings.program_number(key), *pattern.numbers, *structure]
    head = torch.tensor(numbers, device="cpu")
    call, into = bindings.calls_by_number[count], bindings.calls_into[count]
    if len(arrays) == 2 and version is not None:
        return _bind_to_two(call, into, head, arrays, version)

    def compute(values: Tensor, other: Tensor) -> Tensor:
        check_version(arrays, version)
        return call(head, *arrays, values, other)

    def fill(out: Tensor, values: Tensor, other: Tensor) -> None:
        check_version(arrays, version)
        increment_version((out,))
        into(head, out, *arrays, values, other)

    return compute, fill


def _bind_to_two(
    call: CallByNumber,
    into: CallInto,
    head: Tensor,
    arrays: tuple[Tensor, ...],
    version: int,
) -> tuple[Compute, Fill]:
    """`bind` for two arrays, the most common number, without loops over the arrays."""
    first, second = arrays

    def compute(values: Tensor, other: Tensor) -> Tensor:
        if first._version + second._version != version:
            check_version(arrays, version)
        return call(head, first, second, values, other)

    def fill(out: Tensor, values: Tensor, other: Tensor) -> None:
        if first._version + second._version != version:
            check_version(arrays, version)
        increment_version((out,))
        into(head, out, first, second, values, other)

    return compute, fill
