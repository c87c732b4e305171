"""Elementwise operators, element functions, sums."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import DTYPES, MATRIX_FORMATS, assert_equal, random_dense, random_sparse

import tulle

LINEAR: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul]


@pytest.mark.parametrize("operation", LINEAR)
@pytest.mark.parametrize("left", MATRIX_FORMATS)
@pytest.mark.parametrize("right", MATRIX_FORMATS)
def test_sparse_and_sparse(operation: Callable[[Any, Any], Any], left: str, right: str) -> None:
    a, b = random_sparse(5, 6), random_sparse(5, 6, seed=1)
    result = operation(tulle.tensor(a, format=left), tulle.tensor(b, format=right))
    assert isinstance(result, tulle.SparseTensor)
    assert_equal(result, operation(a, b))


@pytest.mark.parametrize("operation", LINEAR)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_and_dense(operation: Callable[[Any, Any], Any], dtype: torch.dtype) -> None:
    a, b = random_sparse(5, 6, dtype=dtype), random_dense(5, 6, dtype=dtype)
    tensor = tulle.tensor(a)
    assert_equal(operation(tensor, b), operation(a, b))
    assert_equal(operation(b, tensor), operation(b, a))
    keeps = operation is operator.mul
    assert isinstance(operation(tensor, b), tulle.SparseTensor) == keeps


def test_results_have_the_patterns_of_the_language() -> None:
    a, b = random_sparse(5, 6), random_sparse(5, 6, seed=1)
    left, right = tulle.tensor(a), tulle.tensor(b)
    assert (left + right).nnz == int(((a != 0) | (b != 0)).sum())
    assert (left * right).nnz == int(((a != 0) & (b != 0)).sum())
    assert (left - left).nnz == left.nnz
    assert (left * 2).pattern is left.pattern
    assert (left * random_dense(5, 6)).pattern is left.pattern
    assert (-left).pattern is left.pattern


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(dtype: torch.dtype) -> None:
    a = random_sparse(5, 6, dtype=dtype)
    tensor = tulle.tensor(a)
    assert_equal(tensor * 3, a * 3)
    assert_equal(3 * tensor, 3 * a)
    assert_equal(tensor * 0.5, a * 0.5)
    assert_equal(tensor / 4, a / 4)
    assert_equal(tensor / 0.5, a / 0.5)
    assert_equal(tensor + 1, a + 1)
    assert_equal(1 - tensor, 1 - a)
    assert_equal(tensor * torch.tensor(2.0), a * torch.tensor(2.0))
    assert isinstance(tensor * 3, tulle.SparseTensor)
    assert isinstance(tensor + 1, torch.Tensor)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int32, torch.float32])
def test_truth_values_are_no_integers(dtype: torch.dtype) -> None:
    a = torch.tensor([[0, 1], [1, 1]]).to(dtype)
    tensor = tulle.tensor(a)
    for found, expected in ((tensor * True, a * True), (tensor + False, a + False)):
        assert found.dtype == expected.dtype
        assert_equal(found, expected)


def test_absent_numerators_stay_absent() -> None:
    a = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    quotient = tulle.tensor(a) / torch.tensor([[0.0, 4.0], [0.0, 0.0]])
    assert isinstance(quotient, tulle.SparseTensor)
    assert quotient.values().tolist() == [0.5, float("inf")]


def test_broadcasting() -> None:
    a = random_sparse(5, 6)
    row, column = random_dense(6), random_dense(5, 1)
    tensor = tulle.tensor(a)
    assert_equal(tensor * row, a * row)
    assert_equal(tensor * column, a * column)
    assert_equal(column * tensor, column * a)
    assert_equal(tensor + row, a + row)
    assert_equal(tensor * tulle.tensor(column, format="coo"), a * column)
    assert_equal(tensor / (column + 9), a / (column + 9))
    assert_equal((tensor / (row + 9)) / (column[:1] + 9), a / (row + 9) / (column[:1] + 9))
    full = tulle.tensor(column + 9, format="coo")
    assert_equal(tensor / full, a / (column + 9))
    assert_equal(column / (tensor + 9), column / (a + 9))
    thin = random_sparse(1, 6)
    assert_equal(tulle.tensor(thin) * random_dense(5, 6), thin * random_dense(5, 6))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (4, 5)])
@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_no_entries(shape: tuple[int, int], format: str) -> None:
    a, b = torch.zeros(shape), torch.ones(shape)
    tensor = tulle.tensor(a, format=format)
    for found, expected in (
        (-tensor, -a),
        (tensor * 2, a * 2),
        (tensor * b, a * b),
        (tensor + tensor, a + a),
        (tensor + b, a + b),
        (tensor @ b.T, a @ b.T),
        (tensor @ tensor.T, a @ a.T),
        (tensor.sum(0), a.sum(0)),
        (tensor.sum(), a.sum()),
    ):
        assert_equal(found, expected)


def test_sizes_must_agree() -> None:
    for other in (random_dense(4, 6), random_dense(4, 1)):
        for operation in (operator.add, operator.mul, operator.truediv):
            with pytest.raises(tulle.UserError, match=r"the shapes \[5, 6\], \[4, \d\] do not fit"):
                operation(tulle.tensor(random_sparse(5, 6)), other)


def test_negation_and_absolute_value() -> None:
    a = random_dense(4, 5)
    assert_equal(-tulle.tensor(a), -a)
    assert_equal(abs(tulle.tensor(a)), abs(a))
    assert_equal(+tulle.tensor(a), a)


FUNCTIONS = [
    "neg",
    "abs",
    "relu",
    "sign",
    "square",
    "floor",
    "ceil",
    "round",
    "trunc",
    "sin",
    "tan",
    "asin",
    "atan",
    "sinh",
    "tanh",
]
FUNCTIONS += ["asinh", "atanh", "expm1", "log1p", "erf", "sqrt"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_element_functions(name: str, dtype: torch.dtype) -> None:
    a = random_sparse(4, 5, dtype=dtype) / 7.0
    function = getattr(torch, name)
    assert_equal(function(tulle.tensor(a)), function(a))
    assert_equal(tulle.compute(f"C[i,j] = {name}(A[i,j])", A=tulle.tensor(a)), function(a))


def test_torch_names() -> None:
    a, b = random_sparse(4, 5), random_dense(4, 5) + 10
    tensor = tulle.tensor(a)
    for name in ("add", "sub", "mul", "div", "true_divide", "multiply", "subtract"):
        function = getattr(torch, name)
        assert_equal(function(tensor, b), function(a, b))
    assert_equal(torch.add(tensor, b, alpha=2), torch.add(a, b, alpha=2))
    assert_equal(torch.Tensor.mul(b, tensor), b * a)
    assert_equal(torch.transpose(tensor, 0, 1), a.T)
    assert_equal(torch.t(tensor), a.T)


@pytest.mark.parametrize("expression", ["A + B", "A - B", "A * B", "A * B + C", "(A + B) * C"])
@pytest.mark.parametrize("blocked", ["bsr(4,4)", "bsr(3,2)", "bsc(4,4)"])
@pytest.mark.parametrize("other", ["csr", "csc", "coo", "dcsr"])
def test_blocks_beside_many_entries(expression: str, blocked: str, other: str) -> None:
    """For this many entries, loops follow the blocks of one operand and the planner converts the
    other operands."""
    values = {name: random_sparse(602, 399, seed=seed) for seed, name in enumerate("ABC")}
    formats = {"A": blocked, "B": other, "C": blocked}
    tensors = {name: tulle.tensor(a, format=formats[name]) for name, a in values.items()}
    assert_equal(eval(expression, {}, tensors), eval(expression, {}, values))


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums(format: str, dtype: torch.dtype) -> None:
    a = random_sparse(5, 6, dtype=dtype)
    tensor = tulle.tensor(a, format=format)
    assert_equal(tensor.sum(), a.sum())
    assert_equal(tensor.sum(0), a.sum(0))
    assert_equal(tensor.sum(-1), a.sum(-1))
    assert_equal(tensor.sum((0, 1)), a.sum((0, 1)))
    assert_equal(tensor.sum(1, keepdim=True), a.sum(1, keepdim=True))
    assert_equal(torch.sum(tensor, dim=1), a.sum(1))


def test_sum_over_a_missing_dimension() -> None:
    with pytest.raises(tulle.UserError, match="no dimension 2"):
        tulle.tensor(torch.eye(2)).sum(2)


def test_relu_of_the_functional_kind() -> None:
    a = random_dense(4, 5)
    assert_equal(torch.nn.functional.relu(tulle.tensor(a)), torch.relu(a))
    changed = tulle.tensor(a)
    torch.nn.functional.relu(changed, inplace=True)
    assert_equal(changed, torch.relu(a))


def test_unknown_functions_are_refused() -> None:
    with pytest.raises(tulle.Unsupported, match=r"torch\.cumsum is not supported"):
        torch.cumsum(tulle.tensor(torch.eye(2)), 0)
    with pytest.raises(TypeError):
        _ = tulle.tensor(torch.eye(2)) + "x"
