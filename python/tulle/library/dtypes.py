"""Element types: PyTorch's dtypes and the compiler's names for them."""

from __future__ import annotations

import sys

import torch

from tulle.support.errors import Unsupported, UserError

NAMES: dict[torch.dtype, str] = {
    torch.bool: "bool",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}
BY_NAME: dict[str, torch.dtype] = {name: dtype for dtype, name in NAMES.items()}
INDEX_DTYPES = (torch.int32, torch.int64)


def torch_name(dtype: torch.dtype) -> str:
    """PyTorch's name of a type without its module: "float32"."""
    return str(dtype).removeprefix("torch.")


def name_of(dtype: torch.dtype) -> str:
    """The compiler's name of a type: "f32"."""
    name = NAMES.get(dtype)
    if name is None:
        known = ", ".join(map(torch_name, NAMES))
        if not isinstance(dtype, torch.dtype):
            raise UserError(
                f"dtype: expected a type of torch, one of {known}, but found {dtype!r}."
            )
        raise Unsupported(f"Values of {dtype} are not supported; convert them to one of {known}.")
    return name


def smallest_index_dtype(shape: tuple[int, ...], count: int) -> torch.dtype:
    """The smallest index type that holds all coordinates and positions."""
    return torch.int64 if any(map(_is_wide, (count, *shape))) else torch.int32


def can_hold(target: torch.dtype, source: torch.dtype) -> bool:
    """Whether torch writes values of the type `source` in place into a tensor of type `target`, as
    torch.can_cast, which torch.compile does not follow."""
    return target.is_floating_point or (
        not source.is_floating_point and (target != torch.bool or source == torch.bool)
    )


def _is_wide(size: int | torch.SymInt) -> bool:
    """Whether int32 does not hold the size. A size that only a run of a graph tells counts elements
    in memory, and is taken for small."""
    if isinstance(size, torch.SymInt):
        # The module is slow to import, and is imported where such sizes exist.
        symbolic_shapes = sys.modules["torch.fx.experimental.symbolic_shapes"]
        return bool(symbolic_shapes.guard_or_false(size >= 2**31))
    return size >= 2**31
