"""torch.library.opcheck on the operators that graphs contain."""

from __future__ import annotations

import pytest
import torch
from helpers import random_sparse
from torch import Tensor

import tulle
from tulle.programs.bound_program import bind
from tulle.programs.program import statement_program

SIZE = 6
ROWS = random_sparse(SIZE, SIZE, dtype=torch.float32)
X = torch.rand(SIZE, SIZE)
FORMATS = ["csr", "csc", "coo", "dcsr", "bsr(2,3)", "ell(6)", "dia", "bitmap", "hyb(2,2)"]
PROGRAMS = {
    "dense": "C[i,k] = A[i,j] * X[j,k]",
    "scalar": "s = A[i,j] * X[i,j]",
    "pattern of an operand": "C[i,j] = A[i,j] * 2",
    "pattern of its own": "C[i,k] = A[i,j] * A[j,k]",
    "several results": "y[i] = A[i,j] * X[i,j]\nz[j] = A[i,j] * X[i,j]",
}

# Operators that no graph contains: they take numbers of this process, text, or nothing, and run
# before a graph is made or outside of one.
OUTSIDE = {
    *(f"call{count}" for count in range(1, 9)),
    *(f"into{count}" for count in range(1, 9)),
    *("run", "run_into", "number", "describe", "explain", "gradient", "tangent", "batched"),
    *("describe_format", "describe_notation", "validate", "is_in_order", "select_parts"),
    *("candidates", "keep_schedule", "tuned_plans", "forget_tuned_plans", "cache_directory"),
    *("set_dense_limit", "new_structure", "forget_structure", "hold_structure"),
    *("release_structure", "take_trust", "kept_data", "finish_compiling", "version", "loaded"),
}
IN_GRAPHS = {"compute", "compute_traced"}


def registered() -> set[str]:
    names = torch._C._dispatch_get_all_op_names()
    return {
        name.removeprefix("tulle::").partition(".")[0]
        for name in names
        if name.startswith("tulle::")
    }


def arguments_for(text: str, format: str) -> tuple[str, list[int], list[Tensor]]:
    """What a graph passes to the operator for this program."""
    tensor = tulle.tensor(ROWS).to(format=format)
    operands = {"A": tensor, "X": X}
    names = tuple(name for name in operands if f"{name}[" in text)
    bound = bind(statement_program(text), names, [operands[name] for name in names])
    pattern = tensor.pattern
    tensors = [*pattern.arrays, tensor.values(), *([X] if "X" in names else [])]
    return bound.key, list(pattern.numbers), tensors


def test_every_operator_is_known() -> None:
    assert registered() == OUTSIDE | IN_GRAPHS


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("operator", sorted(IN_GRAPHS))
def test_compute(operator: str, name: str, format: str) -> None:
    tests = ["test_schema", "test_autograd_registration", "test_faketensor"]
    is_static = name != "pattern of its own" and "hyb" not in format
    if is_static:
        tests.append("test_aot_dispatch_dynamic")
    arguments = arguments_for(PROGRAMS[name], format)
    checked = getattr(torch.ops.tulle, operator).default
    torch.library.opcheck(checked, arguments, test_utils=tuple(tests))
