"""Where tensors are: the CPU, or an NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tulle.support.errors import Unsupported, UserError

if TYPE_CHECKING:
    from tulle.programs.execution import Operand


def check(name: str, device: torch.device) -> None:
    """Refuses what Tulle does not compute on."""
    if device.type not in ("cpu", "cuda"):
        raise Unsupported(
            f"{name} is on the device '{device}'; Tulle computes on the CPU and on NVIDIA GPUs. "
            "Move it there with .to(device)."
        )


def check_there(device: torch.device) -> None:
    """Refuses a GPU that this machine, or its PyTorch, does not have."""
    check("the tensor", device)
    if device.type == "cpu":
        return
    if not torch.backends.cuda.is_built():
        raise UserError(
            f"to: there is no device '{device}': this PyTorch was built without CUDA. Install one "
            "with CUDA, or keep the tensor on the CPU."
        )
    count = torch.cuda.device_count()
    if count == 0 or (device.index or 0) >= count:
        raise UserError(
            f"to: there is no device '{device}': PyTorch finds {count or 'no'} GPUs on this "
            "machine."
        )


def together(
    names: Sequence[str], operands: Sequence[Operand], called: Callable[[str], str]
) -> Sequence[Operand]:
    """The operands on one device. Scalars on the CPU go where the others are, as in torch. Messages
    call an operand what `called` makes of its name."""
    first = operands[0].device if operands else None
    if all(operand.device == first for operand in operands):
        return operands
    placed = [at for at, operand in enumerate(operands) if not _is_scalar(operand)]
    if not placed:
        placed = [0]
    device = operands[placed[0]].device
    for at in placed:
        if operands[at].device != device:
            raise UserError(
                f"The operands are on two devices: {called(names[placed[0]])} is on {device}, "
                f"{called(names[at])} on {operands[at].device}. Move one of them with .to(device)."
            )
    return [operand if operand.device == device else operand.to(device) for operand in operands]


def _is_scalar(operand: Operand) -> bool:
    return isinstance(operand, Tensor) and operand.ndim == 0 and operand.device.type == "cpu"
