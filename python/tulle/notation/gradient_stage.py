"""What the backward pass of a computation keeps and what it computes again, for explanations."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch

from tulle.programs.bound_program import BoundProgram, ResultType, bind
from tulle.programs.derivatives import Derivative, gradient_of
from tulle.programs.operand_checks import checked
from tulle.programs.program import Operand, Program
from tulle.programs.stages import stages_of
from tulle.tensors.sparse_tensor import SparseTensor

_NAME = re.compile(r"[A-Za-z_]\w*")


def gradient_stage(program: Program, names: tuple[str, ...], operands: Sequence[Operand]) -> str:
    """The tensors that autograd keeps, the intermediates that the backward pass computes again, and
    its statements, with an empty line between stages: towards the operands that require a gradient,
    or towards all if none does. Empty if there is no gradient."""
    operands = checked(program, names, operands)
    bound = bind(program, names, operands)
    floats = [
        name
        for name, operand in zip(names, operands, strict=True)
        if operand.dtype.is_floating_point
    ]
    followed = [name for name in floats if operands[names.index(name)].requires_grad]
    seeds = [result.name for result in bound.results if result.dtype.is_floating_point]
    wanted = followed or floats
    if not wanted or not seeds:
        return ""
    derivative = gradient_of(bound, wanted, seeds)
    if derivative.is_zero:
        return ""
    kept = [
        f"{program.called(name)} ({_size(operand)})"
        for name, operand in zip(names, operands, strict=True)
        if name in derivative.reads("operand")
    ]
    kept += [f"{name} (a result)" for name in sorted(derivative.reads("result"))]
    again = _without_gradients(derivative)
    lines = [
        f"towards      {', '.join(map(program.called, wanted))}",
        f"keeps        {', '.join(kept) or 'nothing'}",
        f"computes     {', '.join(again) or 'nothing'} again",
    ]
    return "\n".join([*lines, _statements(derivative, bound, names, operands)]) + "\n"


def _statements(
    derivative: Derivative, bound: BoundProgram, names: tuple[str, ...], operands: Sequence[Operand]
) -> str:
    """The statements of the derivative, in stages if it runs in stages."""
    results = {result.name: result for result in bound.results}
    given: list[Operand] = []
    for one in derivative.operands:
        if one.of in results:
            alike = _alike(results[one.of], names, operands)
            if alike is None:
                return derivative.program.text
            given.append(alike)
        else:
            given.append(operands[names.index(one.of)])
    stages = stages_of(derivative.program, derivative.names, given)
    if stages is None:
        return derivative.program.text
    return f"in stages    {len(stages.stages)}\n{stages.text}"


def _alike(
    result: ResultType, names: tuple[str, ...], operands: Sequence[Operand]
) -> Operand | None:
    """A tensor with the type and the sizes of a result, without memory; None if its structure is
    not known."""
    if result.like:
        owner = operands[names.index(result.like)]
        return owner if owner.dtype == result.dtype else None
    if not result.format.is_dense:
        return None
    sizes = [operands[number].shape[dimension] for number, dimension in result.sizes_from]
    return torch.zeros((), dtype=result.dtype).expand(sizes)


def _without_gradients(derivative: Derivative) -> list[str]:
    """The tensors that the derivative computes from what was kept alone."""
    arriving = {
        name
        for name, operand in zip(derivative.names, derivative.operands, strict=True)
        if operand.role == "gradient"
    }
    found = []
    for line in derivative.program.text.split("\n"):
        left, _, right = line.partition(" = ")
        (name,) = _NAME.findall(left)[:1]
        if arriving.isdisjoint(_NAME.findall(right)):
            found.append(name)
        else:
            arriving.add(name)
    return found


def _size(operand: Operand) -> str:
    values = operand.values() if isinstance(operand, SparseTensor) else operand
    count = values.nbytes
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
