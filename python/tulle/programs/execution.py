"""Runs programs: passes operands to the compiled library and wraps its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from tulle.library import bindings
from tulle.programs import outputs
from tulle.programs.operand_checks import checked
from tulle.programs.outputs import Out
from tulle.programs.program import Operand, Program, Result
from tulle.programs.resolved_program import ResolvedProgram, ResultType, resolve
from tulle.support.errors import translated
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern, sizes_tensor
from tulle.tensors.sparse_tensor import SparseTensor


def execute(
    program: Program, names: Sequence[str], operands: Sequence[Operand], out: Out = None
) -> list[Result]:
    """Runs the program on operands with these names and returns its results in order. Results for
    which `out` has a tensor are written to it."""
    if any(Format(format).is_composite for _, format in program.out_formats):
        return _execute_for_composites(program, names, operands, out)
    operands = checked(program, names, operands)
    found = resolve(program, names, operands)
    sizes, tensors = flatten(operands)
    try:
        if out is not None:
            return _execute_into(found, sizes, tensors, out)
        if found.has_one_dense_result and 0 < len(tensors) <= bindings.MAX_TENSORS:
            return [bindings.calls_by_key[len(tensors) - 1](found.key, sizes, *tensors)]
        return _wrap(found.results, bindings.run(found.key, sizes, tensors))
    except RuntimeError as error:
        raise translated(error) from None


def execute_one(
    program: Program, names: Sequence[str], operands: Sequence[Operand], out: Tensor | None = None
) -> Result:
    """The result of a program that has one."""
    (result,) = execute(program, names, operands, out)
    return result


def explanation_of(program: Program, names: Sequence[str], operands: Sequence[Operand]) -> str:
    """Every stage of the program for these operands, as text."""
    operands = checked(program, names, operands)
    return bindings.explain(resolve(program, names, operands).key, *flatten(operands))


def flatten(operands: Sequence[Operand]) -> tuple[Tensor, list[Tensor]]:
    """What the operators take: a tensor of numbers, and the arrays and values of all operands. The
    numbers are the sizes of the sparse operands and, on a GPU, the complements (~) of the numbers
    of their structures, which no size equals."""
    sizes: tuple[int, ...] = ()
    structures: tuple[int, ...] = ()
    tensors: list[Tensor] = []
    for operand in operands:
        if isinstance(operand, SparseTensor):
            sizes += operand.pattern.numbers
            structures += (operand.pattern.structure,)
            tensors += operand.pattern.arrays
            tensors.append(operand._values)
        else:
            tensors.append(operand)
    if any(structures):
        sizes += tuple(~structure for structure in structures)
    return sizes_tensor(sizes), tensors


def _execute_into(
    found: ResolvedProgram, sizes: Tensor, tensors: list[Tensor], out: Out
) -> list[Result]:
    given = outputs.numbered([result.name for result in found.results], out)
    parts = bindings.run_into(found.key, sizes, tensors, list(given), list(given.values()))
    results = _wrap(found.results, parts)
    return [given.get(number, result) for number, result in enumerate(results)]


def _execute_for_composites(
    program: Program, names: Sequence[str], operands: Sequence[Operand], out: Out
) -> list[Result]:
    """Computes results in composite formats as COO, then distributes the entries to the parts."""
    wanted = {name: format for name, format in program.out_formats if Format(format).is_composite}
    plain = replace(
        program,
        out_formats=tuple(
            (name, "coo" if name in wanted else format) for name, format in program.out_formats
        ),
    )
    results = execute(plain, names, operands, out)
    for at, result in enumerate(resolve(plain, names, operands).results):
        format = wanted.get("*") or wanted.get(result.name)
        if format is not None:
            results[at] = results[at].to(format=format)
    return results


def _wrap(types: Sequence[ResultType], found: list[Tensor]) -> list[Result]:
    """The results in what the operator `run` returns: for each its sizes, structure arrays and
    values."""
    results: list[Result] = []
    at = 0
    for result in types:
        sizes, values = found[at], found[at + 1 + result.array_count]
        arrays = tuple(found[at + 1 : at + 1 + result.array_count])
        at += result.array_count + 2
        if result.format.is_dense:
            results.append(values)
            continue
        shape = tuple(sizes.tolist())
        pattern = living_pattern(result.format, shape, arrays)
        if pattern is None:
            pattern = Pattern(result.format, shape, arrays, result.index_dtype)
        results.append(SparseTensor(pattern, values))
    return results
