"""The tensors of callers that results are written to: what `out=` accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from tulle.library import devices
from tulle.support.errors import UserError

Out: TypeAlias = Tensor | Mapping[str, Tensor] | Sequence[Tensor] | None

# Tells autograd that tensors are written to. It is torch.autograd.graph.increment_version without
# the check of its argument, which takes as long as the call.
increment_version: Callable[[Sequence[Tensor]], None] = torch._C._increment_version


def numbered(names: Sequence[str], out: Any) -> dict[int, Tensor]:
    """The tensors of `out` by the number of their result; `names` are the names of the results."""
    if isinstance(out, Mapping):
        unknown = [name for name in out if name not in names]
        if unknown:
            raise UserError(
                f"out: there is no result {unknown[0]!r}; the results are {', '.join(names)}."
            )
        given = {names.index(name): tensor for name, tensor in out.items()}
    else:
        tensors = out if isinstance(out, list | tuple) else (out,)
        if len(tensors) != len(names):
            raise UserError(
                f"out: the program has {len(names)} results ({', '.join(names)}), but "
                f"{len(tensors)} tensors were given; give some of them by name, "
                f"out={{{names[0]!r}: ...}}."
            )
        given = dict(enumerate(tensors))
    for tensor in given.values():
        _check(tensor)
    return given


def is_plain(out: Tensor) -> bool:
    """Whether the tensor passes all checks, as far as it can be told quickly."""
    return out.layout == torch.strided and not (out.requires_grad and torch.is_grad_enabled())


def _check(out: Any) -> None:
    """Raises UserError if the tensor cannot be written to; else tells autograd of the write."""
    if not isinstance(out, Tensor):
        raise UserError(f"out: expected a dense tensor, but found {type(out).__name__}.")
    if out.layout != torch.strided:
        raise UserError(f"out: expected a dense tensor, but found the layout {out.layout}.")
    devices.check("out", out.device)
    if out.requires_grad and torch.is_grad_enabled():
        raise UserError(
            "out: the tensor requires a gradient, which writing to it would lose. "
            "Compute under torch.no_grad(), or omit out=."
        )
    increment_version((out,))
