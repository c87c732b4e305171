"""Remembered calls: later calls with operands of the same types take the warm route."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_sparse
from torch import Tensor

import tulle
from tulle.programs import call_sites, recording

ROWS, COLUMNS = 12, 9


@pytest.fixture
def cold_runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The programs that the cold route runs, in order."""
    programs: list[object] = []
    execute = recording.execute

    def noting(program: Any, *rest: Any) -> Any:
        programs.append(program)
        return execute(program, *rest)

    monkeypatch.setattr(recording, "execute", noting)
    return programs


def sparse(seed: int = 0, *, format: str = "csr", rank: int = 2) -> tuple[Tensor, Any]:
    """A tensor with about a third of its elements, dense and sparse."""
    shape = (3, ROWS, COLUMNS)[-rank:]
    dense = random_sparse(*shape, seed=seed, dtype=torch.float32)
    return dense, tulle.tensor(dense, format=format)


SDDMM = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]"
KERNEL = tulle.kernel("C[i,k] = A[i,j] * B[j,k]", A="csr", B="dense")
WIDE, VECTOR = torch.rand(COLUMNS, 5), torch.rand(COLUMNS)
LEFT, RIGHT = torch.rand(ROWS, 4), torch.rand(COLUMNS, 4)
FULL = torch.rand(ROWS, COLUMNS)

# Ways to write a computation of one sparse matrix, and the same with the dense one.
WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[Tensor], Tensor]]] = {
    "matrix": (lambda a: a @ WIDE, lambda x: x @ WIDE),
    "vector": (lambda a: a @ VECTOR, lambda x: x @ VECTOR),
    "from the left": (lambda a: LEFT.T @ a, lambda x: LEFT.T @ x),
    "transposed": (lambda a: a.T @ LEFT, lambda x: x.T @ LEFT),
    "torch.mm": (lambda a: torch.mm(a, WIDE), lambda x: x @ WIDE),
    "einsum": (lambda a: tulle.einsum("ij,jk->ik", a, WIDE), lambda x: x @ WIDE),
    "kernel": (lambda a: KERNEL(A=a, B=WIDE), lambda x: x @ WIDE),
    "sddmm": (
        lambda a: tulle.compute(SDDMM, A=a, Q=LEFT, K=RIGHT),
        lambda x: x * (LEFT @ RIGHT.T),
    ),
    "number": (lambda a: a * 2.5, lambda x: x * 2.5),
    "number from the left": (lambda a: 3 - a, lambda x: 3 - x),
    "elementwise": (lambda a: a * FULL, lambda x: x * FULL),
    "quotient": (lambda a: a / FULL[:, :1], lambda x: x / FULL[:, :1]),
    "sum": (lambda a: a.sum(1), lambda x: x.sum(1)),
    "sum of all": (lambda a: a.sum(), lambda x: x.sum()),
    "keepdim": (lambda a: a.amax(1, keepdim=True), lambda x: x.amax(1, keepdim=True)),
    "function": (lambda a: torch.relu(a), torch.relu),
    "linear": (lambda a: torch.nn.functional.linear(a, RIGHT.T), lambda x: x @ RIGHT),
    "product of two": (lambda a: a @ a.T, lambda x: x @ x.T),
    "sum of two": (lambda a: a + a, lambda x: x + x),
    "converted": (lambda a: a.to(format="coo"), lambda x: x),
}


@pytest.mark.parametrize("way", WAYS)
def test_second_call_is_warm_and_equal(way: str, cold_runs: list[object]) -> None:
    run, expected = WAYS[way]
    dense, tensor = sparse()
    first = run(tensor)
    cold_runs.clear()
    second, doubled = run(tensor), run(tensor.with_values(tensor.values() * 2))
    assert not cold_runs
    for result in (first, second):
        assert_equal(result, expected(dense))
    assert_equal(doubled, expected(dense * 2))


def test_results_share_the_pattern(cold_runs: list[object]) -> None:
    _, tensor = sparse()
    cold_runs.clear()
    for _ in range(3):
        assert (tensor * 2).pattern is torch.relu(tensor).pattern is tensor.pattern
    assert not cold_runs


def test_several_results() -> None:
    dense, tensor = sparse()
    for _ in range(3):
        rows, columns = tulle.compute("r[i] = A[i,j]; c[j] = A[i,j]", A=tensor)
        assert_equal(rows, dense.sum(1))
        assert_equal(columns, dense.sum(0))


@pytest.mark.parametrize("widths", [(5, 1, 7, 1), (1, 6, 1)])
def test_other_widths(widths: tuple[int, ...]) -> None:
    dense, tensor = sparse()
    for width in widths:
        other = torch.rand(COLUMNS, width)
        assert_equal(tensor @ other, dense @ other)
        assert_equal(tulle.einsum("ij,jk->ik", tensor, other), dense @ other)


def test_broadcast_sizes_are_told_apart() -> None:
    dense, tensor = sparse()
    for shape in [(ROWS, COLUMNS), (1, COLUMNS), (ROWS, 1), (1, 1), (COLUMNS,), (1,), ()] * 2:
        other = torch.rand(shape)
        assert_equal(tensor * other, dense * other)
        assert_equal(other * tensor, other * dense)


def test_batches_of_size_one_are_told_apart() -> None:
    dense, tensor = sparse(rank=3)
    for batch in (3, 1, 3, 1):
        other = torch.rand(batch, COLUMNS, 4)
        assert_equal(tensor @ other, dense @ other)


def test_other_types_and_formats() -> None:
    for dtype in (torch.float32, torch.float64, torch.int64, torch.float32):
        dense = random_sparse(ROWS, COLUMNS, dtype=dtype)
        other = torch.ones(COLUMNS, 2, dtype=dtype)
        for format in ("csr", "csc", "coo", "bsr(2,3)"):
            assert_equal(tulle.tensor(dense, format=format) @ other, dense @ other)


def test_second_operand_may_be_another_pattern() -> None:
    dense, tensor = sparse()
    for seed in (1, 2, 1, 2):
        other_dense, other = sparse(seed)
        assert_equal(tensor + other, dense + other_dense)
        assert_equal(tensor @ other.T, dense @ other_dense.T)


def test_remembered_calls_keep_no_other_operand() -> None:
    _, tensor = sparse()
    _, other = sparse(1)
    assert (tensor + other).nnz >= tensor.nnz
    released = weakref.ref(other.pattern)
    del other
    gc.collect()
    assert released() is None


def test_tables_are_bounded() -> None:
    dense, tensor = sparse()
    for number in range(call_sites.MOST_REMEMBERED + 10):
        other = torch.rand(1, 1 + number)
        tulle.einsum("ij,kl->ij", tensor, other)
        assert len(tensor.pattern.calls) <= call_sites.MOST_REMEMBERED
    assert_equal(tensor @ WIDE, dense @ WIDE)


def test_out() -> None:
    dense, tensor = sparse()
    out = torch.empty(ROWS, 5)
    for _ in range(3):
        version = out._version
        assert torch.mm(tensor, WIDE, out=out) is out
        assert out._version > version
        assert_equal(out, dense @ WIDE)
        assert tulle.einsum("ij,jk->ik", tensor, WIDE, out=out) is out
        assert tulle.compute("C[i,k] = A[i,j] * B[j,k]", A=tensor, B=WIDE, out={"C": out}) is out


def test_errors_are_those_of_the_first_call() -> None:
    _, tensor = sparse()
    wrong = torch.rand(COLUMNS + 1, 5)
    with pytest.raises(tulle.UserError) as cold:
        tensor @ wrong
    assert (tensor @ WIDE).shape == (ROWS, 5)
    for _ in range(2):
        with pytest.raises(tulle.UserError) as warm:
            tensor @ wrong
        assert str(warm.value) == str(cold.value)
    assert (tensor @ WIDE).shape == (ROWS, 5)


# These compute values from values and do not read the structure.
OF_VALUES = ("number", "function")


@pytest.mark.parametrize("way", [way for way in WAYS if way not in OF_VALUES])
def test_changed_structure_is_refused(way: str) -> None:
    run, _ = WAYS[way]
    _, tensor = sparse()
    run(tensor)
    tensor.pattern.arrays[1].zero_()
    with pytest.raises(tulle.UserError, match="written to"):
        run(tensor)


@pytest.mark.parametrize("way", WAYS)
def test_calls_with_gradients_are_warm(way: str, cold_runs: list[object]) -> None:
    """The second forward and backward pass run no program by the cold route."""
    run, expected = WAYS[way]
    dense, tensor = sparse()
    leaf = tensor.values().clone().requires_grad_()
    wanted = dense.clone().requires_grad_()
    goal = expected(wanted)
    weights = torch.rand_like(goal)
    (of_dense,) = torch.autograd.grad(goal, wanted, weights)
    entries = tuple(tensor.coordinates())
    for _ in range(3):
        cold_runs.clear()
        result = run(tensor.with_values(leaf))
        whole = result.to_dense() if isinstance(result, tulle.SparseTensor) else result
        (found,) = torch.autograd.grad(whole, leaf, weights)
        assert_equal(found, of_dense[entries])
    if isinstance(result, Tensor):
        assert cold_runs == []


def test_values_of_a_parameter() -> None:
    dense, tensor = sparse()
    learned = tensor.with_values(tensor.values())
    learned._values = torch.nn.Parameter(tensor.values())
    with torch.no_grad():
        for _ in range(2):
            assert_equal(learned @ WIDE, dense @ WIDE)


def test_made_in_inference_mode() -> None:
    with torch.inference_mode():
        dense, tensor = sparse()
        for _ in range(2):
            assert_equal(tensor @ WIDE, dense @ WIDE)
    assert_equal(tensor @ WIDE, dense @ WIDE)


def test_other_operands_after_tensors() -> None:
    dense, tensor = sparse()
    for other in (WIDE, WIDE.numpy(), WIDE.to_sparse_csr(), WIDE):
        assert_equal(tensor @ other, dense @ WIDE)
    with pytest.raises(TypeError):
        tensor @ "text"


def test_kernels_check_formats() -> None:
    _, tensor = sparse()
    for _ in range(2):
        KERNEL(A=tensor, B=WIDE)
        with pytest.raises(tulle.UserError, match="stored as"):
            KERNEL(A=tensor.to(format="coo"), B=WIDE)
