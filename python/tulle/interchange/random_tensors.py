"""Random sparse tensors: entries at random coordinates, without repetition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.interchange.constructors import default_format, placement, tensor_shape
from tulle.support.errors import UserError
from tulle.support.kinds import is_number
from tulle.tensors.entry_lists import from_entries
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor

_LARGEST = 2**63 - 1  # the numbers of elements are int64


def rand(
    *size: Any,
    density: float | None = None,
    nnz: int | None = None,
    format: str | Format | None = None,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor with entries at random coordinates, with random values between 0 and 1:
    rand(3, 4, density=0.1) or rand(3, 4, nnz=5). `density` is the share of the elements, rounded to
    a number of entries. The format is csr for matrices, coo for vectors, else csf. Formats that pad
    add entries of value 0. On the CPU, one seed always gives one tensor."""
    made = _random("rand", torch.rand, size, density, nnz, format, generator, dtype, device)
    return made.requires_grad_() if requires_grad else made


def randn(
    *size: Any,
    density: float | None = None,
    nnz: int | None = None,
    format: str | Format | None = None,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """As `rand`, with values from the standard normal distribution."""
    made = _random("randn", torch.randn, size, density, nnz, format, generator, dtype, device)
    return made.requires_grad_() if requires_grad else made


def _random(
    caller: str,
    draw: Callable[..., Tensor],
    size: tuple[Any, ...],
    density: float | None,
    nnz: int | None,
    format: str | Format | None,
    generator: torch.Generator | None,
    dtype: torch.dtype | None,
    device: Any,
) -> SparseTensor:
    if is_compiling():
        raise UserError(
            f"tulle.{caller}: torch.compile cannot trace random coordinates; make the tensor "
            "outside of the function that it traces."
        )
    given = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    shape = tensor_shape(caller, given)
    if generator is not None and not isinstance(generator, torch.Generator):
        raise UserError(
            f"{caller}: generator is a torch.Generator, but found {generator!r}; write "
            "torch.Generator().manual_seed(3)."
        )
    if device is None and generator is not None:
        device = generator.device
    options = placement(caller, dtype, device)
    count = _count(caller, math.prod(shape), density, nnz)
    coordinates = _distinct_coordinates(shape, count, generator, options["device"])
    values = draw(count, generator=generator, **options)
    format = default_format(len(shape)) if format is None else format
    return from_entries(SparseTensor, format, shape, coordinates, values, is_sorted=True)


def _count(caller: str, elements: int, density: float | None, nnz: int | None) -> int:
    """The number of entries."""
    if (density is None) == (nnz is None):
        raise UserError(f"{caller}: give one of density and nnz: {caller}(3, 4, density=0.1).")
    if elements > _LARGEST:
        raise UserError(f"{caller}: the shape has 2^63 elements or more; make it smaller.")
    if density is not None:
        if not is_number(density) or not 0 <= density <= 1:
            raise UserError(f"{caller}: the density is between 0 and 1, but found {density!r}.")
        return round(elements * density)
    if isinstance(nnz, bool) or not isinstance(nnz, int) or not 0 <= nnz <= elements:
        raise UserError(
            f"{caller}: nnz is an integer from 0 to the number of elements, {elements}, but found "
            f"{nnz!r}."
        )
    return nnz


def _distinct_coordinates(
    shape: tuple[int, ...], count: int, generator: torch.Generator | None, device: torch.device
) -> Tensor:
    """That many coordinates, [rank, count], in ascending order."""
    numbers = _distinct_numbers(math.prod(shape), count, generator, device)
    rows = []
    for size in reversed(shape):
        rows.append(numbers % max(size, 1))
        numbers = torch.div(numbers, max(size, 1), rounding_mode="floor")
    return torch.stack(rows[::-1])


def _distinct_numbers(
    end: int, count: int, generator: torch.Generator | None, device: torch.device
) -> Tensor:
    """That many different numbers below `end`, in ascending order. All sets of numbers have the
    same probability. The memory is O(count)."""
    if 3 * count > end:
        return torch.randperm(end, generator=generator, device=device)[:count].sort().values
    numbers = torch.empty(0, dtype=torch.int64, device=device)
    while numbers.numel() < count:
        missing = count - numbers.numel()
        more = torch.randint(end, (missing + missing // 2 + 8,), generator=generator, device=device)
        numbers = torch.unique(torch.cat([numbers, more]))
    dropped = numbers.numel() - count
    if dropped:
        chosen = torch.randperm(numbers.numel(), generator=generator, device=device)[:count]
        numbers = numbers[chosen.sort().values]
    return numbers
