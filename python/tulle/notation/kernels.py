"""A computation with formats and a schedule that the user fixes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from torch.compiler import is_compiling

from tulle.notation import statements
from tulle.notation.explanations import Explanation, explain_program
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.outputs import Out
from tulle.programs.program import Operand, Program, names_in, out_formats
from tulle.support.arguments import check_text
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor


@dataclass(frozen=True, repr=False)
class Kernel:
    """Statements for operands with given formats. Call it with operands by name. Each method
    returns a new kernel."""

    program: Program
    formats: Mapping[str, Format]
    # The call sites by the names of operands, in the order in which callers give them.
    _sites: dict[tuple[str, ...], CallSite] = field(default_factory=dict, init=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self.program, self.formats)

    def schedule(self, text: str) -> Kernel:
        """The kernel with this schedule in place of the planned one:
        "parallel(i, by=nnz); unroll(j, 2)". A step applies to all statements that have its indices,
        or to the statement that it names: "C: unroll(j, 2)"."""
        check_text("schedule", text, "parallel(i)")
        program = replace(self.program, schedule=text)
        names_in(program)
        return replace(self, program=program)

    def out_format(self, /, **formats: str | Format) -> Kernel:
        """The kernel with these formats of results, by name."""
        _, assigned = names_in(self.program)
        _check_names("out_format", formats, "assign", assigned)
        chosen = out_formats(formats)
        return replace(self, program=replace(self.program, out_formats=chosen))

    def features(self, text: str) -> Kernel:
        """The kernel for a machine limited to "sse4.2", "avx2" or "avx512"."""
        return replace(self, program=replace(self.program, features=text))

    def checked(self) -> Kernel:
        """The kernel with bounds checks in the generated code."""
        return replace(self, program=replace(self.program, checked=True))

    def __call__(self, /, *unnamed: Any, out: Out = None, **operands: Any) -> Any:
        """Runs the kernel. Returns one tensor, or a tuple of several. `out` is a tensor to which a
        dense result is written, or a dict of such tensors by name."""
        if unnamed:
            raise UserError(f"A kernel's operands are given by name{self.instead_of('compute')}.")
        if is_compiling():
            program = (self.program.text, self.program.out_formats, self.program.schedule)
            options = (self.program.features, self.program.checked)
            formats = tuple(self.formats.items())
            return _run_in_graph(
                program, options, formats, out, tuple(operands), tuple(operands.values())
            )
        return self._run(out, operands)

    def _run(self, out: Out, operands: Mapping[str, Any]) -> Any:
        names, tensors = statements.by_name(operands)
        site = self._sites.get(names)
        if site is None:
            site = self._sites[names] = CallSite(lambda given: self._prepared(names, given))
        return site.run_on(tensors, out)

    def explain(self, /, **operands: Any) -> Explanation:
        """Every stage of the compiler for these operands."""
        return explain_program(*self._prepared(*statements.by_name(operands)))

    def instead_of(self, caller: str) -> str:
        """The end of the message where a kernel was passed to a function that takes text: what to
        write."""
        operands = ", ".join(f"{name}={name}" for name in names_in(self.program)[0])
        written = {"explain": "kernel.explain", "compute": "kernel", "einsum": "kernel"}.get(caller)
        return f"; write {written}({operands})" if written else ""

    def __repr__(self) -> str:
        program = self.program
        read, _ = names_in(program)
        operands = ", ".join(f"{name}: {self.formats.get(name, 'any')}" for name in read)
        results = ", ".join(f"{name}: {format}" for name, format in program.out_formats)
        head = f"tulle.Kernel({operands}{f' -> {results}' if results else ''})"
        lines = [head, *_indented(program.text)]
        if program.schedule:
            lines += ["schedule:", *_indented(program.schedule)]
        if program.features:
            lines.append(f"features: {program.features}")
        if program.checked:
            lines.append("checked")
        return "\n".join(lines)

    def _prepared(self, names: tuple[str, ...], tensors: Sequence[Operand]) -> Prepared:
        for name, tensor in zip(names, tensors, strict=True):
            self._check_format(name, tensor)
        return self.program, names, tensors

    def _check_format(self, name: str, operand: Operand) -> None:
        if name not in self.formats:
            return
        is_sparse = isinstance(operand, SparseTensor)
        found = operand.format if is_sparse else Format("dense", operand.ndim)
        if not _is_same_format(found, self.formats[name], operand.ndim):
            wanted = self.formats[name].of_rank(operand.ndim)
            remedy = (
                f"{name}.to(format={str(wanted)!r})"
                if is_sparse
                else f"tulle.tensor({name}, format={str(wanted)!r})"
            )
            raise UserError(
                f"{name} is stored as {found}, but the kernel takes {wanted}: {remedy}."
            )


@recorded
def _run_in_graph(
    program: tuple[str, tuple[tuple[str, str], ...], str],
    options: tuple[str, bool],
    formats: tuple[tuple[str, Format], ...],
    out: Out,
    names: tuple[str, ...],
    values: tuple[Any, ...],
) -> Any:
    """A run of the kernel with this text, formats of results, schedule and options."""
    text, formats_of_results, schedule = program
    features, checked = options
    made = Program(
        text,
        out_formats=formats_of_results,
        schedule=schedule,
        features=features,
        checked=checked,
    )
    return Kernel(made, dict(formats))._run(out, dict(zip(names, values, strict=True)))


@lru_cache(maxsize=1024)
def _is_same_format(found: Format, wanted: Format, rank: int) -> bool:
    return found == wanted.of_rank(rank)


def kernel(text: str, /, **formats: str | Format) -> Kernel:
    """A kernel for statements of index notation and operands with these formats. An operand that is
    not named may have any format."""
    check_text("kernel", text, "C[i,k] = A[i,j] * B[j,k]")
    program = Program(text)
    read, _ = names_in(program)
    if "out_format" in formats and "out_format" not in read:
        raise UserError(
            "kernel: the formats are those of operands; give the format of a result afterwards, "
            'kernel(...).out_format(C="csr").'
        )
    _check_names("kernel", formats, "read", read)
    known = {name: Format(format) for name, format in formats.items()}
    return Kernel(program, known)


def _indented(text: str) -> list[str]:
    """The lines of the text with one indentation, without blank lines at either end."""
    lines = textwrap.dedent(text).strip("\n").rstrip().split("\n")
    return [f"  {line}" for line in lines]


def _check_names(function: str, given: Iterable[str], verb: str, known: list[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(
                f"{function}: a format is given for {name}, which no statement {verb}s; "
                f"they {verb} {', '.join(known)}."
            )
