"""Checks of operands before a program runs: devices, unchanged structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from tulle.library import devices
from tulle.programs.program import Operand, Program
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor


def checked(
    program: Program, names: Sequence[str], operands: Sequence[Operand]
) -> Sequence[Operand]:
    """The operands on one device. Raises UserError or Unsupported for operands that the program
    cannot run on."""
    for name, operand in zip(names, operands, strict=True):
        _check(program, name, operand)
    return _on_one_device(names, operands, program.called)


def _check(program: Program, name: str, operand: Operand) -> None:
    if operand.device.type != "cpu":
        devices.check(program.called(name), operand.device)
    if isinstance(operand, SparseTensor):
        operand.pattern.check_unchanged()


def _on_one_device(
    names: Sequence[str], operands: Sequence[Operand], called: Callable[[str], str]
) -> Sequence[Operand]:
    """The operands on one device. Scalars on the CPU move to the device of the others, as in torch.
    Messages call an operand `called(name)`."""
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
