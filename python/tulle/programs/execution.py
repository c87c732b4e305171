"""Runs programs: builds the key, hands operands to the operators, wraps results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.autograd import forward_ad

from tulle.library import bindings, devices, dtypes
from tulle.programs import outputs
from tulle.programs.outputs import Out
from tulle.support.errors import Unsupported, UserError, translated
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern, sizes_tensor
from tulle.tensors.sparse_tensor import SparseTensor

Operand: TypeAlias = SparseTensor | Tensor
Result: TypeAlias = SparseTensor | Tensor
OutFormat: TypeAlias = str | Format | Mapping[str, str | Format] | None


@dataclass(frozen=True)
class Program:
    """What is to be computed, apart from the operands' types and formats."""

    text: str  # index notation, or the equation of an einsum
    is_einsum: bool = False
    out_formats: tuple[tuple[str, str], ...] = ()  # name of the result or "*", format
    ones: tuple[tuple[int, int], ...] = ()  # operand and dimension of sizes 1, for an einsum
    schedule: str = ""
    features: str = ""
    checked: bool = False
    tuned: bool = True  # with a schedule that was found by measuring, if there is one
    reduce: str = "sum"  # of an einsum

    def called(self, name: str) -> str:
        """What messages call an operand: those of an einsum have no names that a user knows."""
        return f"operand {int(name[1:]) + 1}" if self.is_einsum else name

    def key(self, specs: Sequence[str]) -> str:
        """The text that any process can compile: src/torch/key.h says how it reads."""
        lines = [f"operand {spec}" for spec in specs]
        lines += [f"out {name} {format}" for name, format in self.out_formats]
        lines += [f"one {operand} {dimension}" for operand, dimension in self.ones]
        if self.schedule:
            lines += [f"schedule {line}" for line in self.schedule.split("\n")]
        if self.features:
            lines.append(f"features {self.features}")
        if self.checked:
            lines.append("checked")
        if not self.tuned:
            lines.append("untuned")
        if self.reduce != "sum":
            lines.append(f"reduce {self.reduce}")
        lines += ["einsum" if self.is_einsum else "compute", self.text]
        return "\n".join(lines)


class ResultType(NamedTuple):
    """What is known of a result before the program runs."""

    name: str
    index_dtype: torch.dtype
    format: Format
    array_count: int  # of structure arrays


class Compiled(NamedTuple):
    """A program for operands of given types and formats."""

    key: str
    results: tuple[ResultType, ...]
    is_one_dense: bool  # one result, an ordinary tensor


@lru_cache(maxsize=16384)
def compiled(program: Program, specs: tuple[str, ...]) -> Compiled:
    """Compiles the program, unless this process has done so, and asks for its results."""
    key = program.key(specs)
    try:
        lines = bindings.describe(key).splitlines()
    except RuntimeError as error:
        raise translated(error) from None
    results = []
    for line in lines[::2]:
        name, _, index, rank, format_text = line.split(" ", 4)
        format = Format(format_text, int(rank))
        arrays = sum(len(level.arrays) for level in format.levels)
        results.append(ResultType(name, dtypes.BY_NAME[index], format, arrays))
    is_one_dense = len(results) == 1 and results[0].format.is_dense
    return Compiled(key, tuple(results), is_one_dense)


@lru_cache(maxsize=1024)
def names_in(program: Program) -> tuple[list[str], list[str]]:
    """The operands that the statements read and the names that they assign. Raises where they are
    wrong, or where the schedule has a step that is wrong or for none of them."""
    lines = _described(program)
    operands = [name for kind, name, *_ in lines if kind == "operand"]
    return operands, [name for kind, name, *_ in lines if kind == "assigned"]


def decomposed_in(program: Program) -> dict[str, str]:
    """The operands that the schedule takes apart, and the composite format of each."""
    if not program.schedule:
        return {}
    return {line[1]: line[2] for line in _described(program) if line[0] == "decomposed"}


def _described(program: Program) -> list[list[str]]:
    """What is told of the statements: a word, a name and, of some, more."""
    try:
        text = bindings.describe_notation(program.text, program.schedule)
    except RuntimeError as error:
        raise translated(error) from None
    return [line.split(" ", 2) for line in text.splitlines()]


def spec_of(name: str, operand: Operand) -> str:
    """What the compiler has to know of an operand."""
    if isinstance(operand, SparseTensor):
        return f"{name} {operand.pattern.spec(operand.dtype)}"
    return f"{name} {dtypes.name_of(operand.dtype)} i64 {operand.ndim} dense"


def _check(program: Program, name: str, operand: Operand) -> None:
    if operand.device.type != "cpu":
        devices.check(program.called(name), operand.device)
    if isinstance(operand, SparseTensor):
        operand.pattern.check_unchanged()
    values = operand._values if isinstance(operand, SparseTensor) else operand
    if values.requires_grad and torch.is_grad_enabled():
        raise Unsupported(
            f"{program.called(name)} requires a gradient, and this version computes none. "
            "Compute under torch.no_grad(), or pass its detach()."
        )
    if forward_ad._current_level >= 0 and forward_ad.unpack_dual(values).tangent is not None:
        raise Unsupported(
            f"{program.called(name)} carries a tangent, and this version has no forward-mode "
            "gradients. Pass its detach()."
        )


def checked(
    program: Program, names: Sequence[str], operands: Sequence[Operand]
) -> Sequence[Operand]:
    """The operands on one device; refuses those that the program cannot run on."""
    for name, operand in zip(names, operands, strict=True):
        _check(program, name, operand)
    return devices.together(names, operands, program.called)


def flatten(operands: Sequence[Operand]) -> tuple[Tensor, list[Tensor]]:
    """Sizes of the sparse operands, on a GPU the numbers of their structures, inverted so that
    none is taken for a size, and the tensors of all, as the operators take them."""
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


def _wrap(types: Sequence[ResultType], found: list[Tensor]) -> list[Result]:
    """Results from what tulle::run returns: for each its sizes, structure arrays, values."""
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


def execute(
    program: Program, names: Sequence[str], operands: Sequence[Operand], out: Out = None
) -> list[Result]:
    """Runs the program on operands of these names and returns its results in order; those that
    `out` has a tensor for are written to that."""
    if any(Format(format).is_composite for _, format in program.out_formats):
        return _execute_in_parts(program, names, operands, out)
    operands = checked(program, names, operands)
    specs = tuple(map(spec_of, names, operands))
    found = compiled(program, specs)
    sizes, tensors = flatten(operands)
    try:
        if out is not None:
            return _execute_into(found, sizes, tensors, out)
        if found.is_one_dense and 0 < len(tensors) <= bindings.MAX_TENSORS:
            return [bindings.calls[len(tensors) - 1](found.key, sizes, *tensors)]
        return _wrap(found.results, bindings.run(found.key, sizes, tensors))
    except RuntimeError as error:
        raise translated(error) from None


def _execute_in_parts(
    program: Program, names: Sequence[str], operands: Sequence[Operand], out: Out
) -> list[Result]:
    """For results in composite formats: computed as coordinates, then given out to the parts."""
    wanted = {name: format for name, format in program.out_formats if Format(format).is_composite}
    plain = tuple(
        (name, "coo" if name in wanted else format) for name, format in program.out_formats
    )
    results = execute(replace(program, out_formats=plain), names, operands, out)
    types = compiled(replace(program, out_formats=plain), tuple(map(spec_of, names, operands)))
    for at, result in enumerate(types.results):
        format = wanted.get("*") or wanted.get(result.name)
        if format is not None:
            results[at] = results[at].to(format=format)
    return results


def _execute_into(found: Compiled, sizes: Tensor, tensors: list[Tensor], out: Out) -> list[Result]:
    given = outputs.numbered([result.name for result in found.results], out)
    parts = bindings.run_into(found.key, sizes, tensors, list(given), list(given.values()))
    results = _wrap(found.results, parts)
    return [given.get(number, result) for number, result in enumerate(results)]


def execute_one(
    program: Program, names: Sequence[str], operands: Sequence[Operand], out: Tensor | None = None
) -> Result:
    """The result of a program that has one."""
    (result,) = execute(program, names, operands, out)
    return result


def explanation_of(program: Program, names: Sequence[str], operands: Sequence[Operand]) -> str:
    """Every stage of the program for these operands, as text."""
    operands = checked(program, names, operands)
    found = compiled(program, tuple(map(spec_of, names, operands)))
    sizes, tensors = flatten(operands)
    try:
        return bindings.explain(found.key, sizes, tensors)
    except RuntimeError as error:
        raise translated(error) from None


def out_formats(given: OutFormat) -> tuple[tuple[str, str], ...]:
    """Formats of results that a caller asks for, by name as a program has them; "*" is the name of
    the only result."""
    if given is None:
        return ()
    by_name = given if isinstance(given, Mapping) else {"*": given}
    for format in by_name.values():
        if not isinstance(format, str | Format):
            raise UserError(f"out_format: expected text or a tulle.Format, but found {format!r}.")
    return tuple((name, str(Format(format))) for name, format in by_name.items())
