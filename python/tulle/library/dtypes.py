"""Element types: PyTorch's, and what the compiler calls them."""

from __future__ import annotations

import torch

from tulle.support.errors import Unsupported

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


def name_of(dtype: torch.dtype) -> str:
    """The compiler's name of a type."""
    name = NAMES.get(dtype)
    if name is None:
        known = ", ".join(str(each).removeprefix("torch.") for each in NAMES)
        raise Unsupported(f"Values of {dtype} are not supported; convert them to one of {known}.")
    return name


def fitting_index_dtype(shape: tuple[int, ...], count: int) -> torch.dtype:
    """The smaller index type that can hold all coordinates and positions."""
    return torch.int32 if max(count, *shape, 0) < 2**31 else torch.int64
