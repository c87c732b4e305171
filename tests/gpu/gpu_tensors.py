"""Code shared by the GPU tests: the device, random matrices, expected errors."""

from __future__ import annotations

import torch

GPU = torch.device("cuda", 0)


def sparse(rows: int, columns: int, density: float = 0.1, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, columns, generator=generator)
    values[torch.rand(rows, columns, generator=generator) >= density] = 0
    return values


def raises(kind: type[Exception], text: str, call: object) -> None:
    try:
        call()  # type: ignore[operator]
    except kind as error:
        assert text in str(error), str(error)
        return
    raise AssertionError(f"{kind.__name__} expected")
