"""Elementwise functions of torch against dense torch, over formats and types."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, dense, random_sparse
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional

import tulle
from tulle.operators.pointwise_table import BY_FUNCTION, METHODS, Absent

FORMATS = ["csr", "csc", "coo", "dcsr", "bsr(2,3)", "ell(6)", "dia", "bitmap", "ragged", "hyb(2,2)"]
FEW = ["csr", "bsr(2,3)", "hyb(2,2)"]
DUPLICATES = "(i,j) -> (i: compressed nonunique, j: singleton nonunique)"
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32]

A = (random_sparse(5, 6) - 3) * (random_sparse(5, 6) != 0) / 4 + 0
B = (random_sparse(5, 6, seed=1) - 3) * (random_sparse(5, 6, seed=1) != 0) / 4 + 0
Function = Callable[..., Any]


def is_sparse(value: object) -> bool:
    return isinstance(value, tulle.SparseTensor)


def check(function: Function, *operands: Tensor, format: str, sparse: bool | None = None) -> Any:
    """Compares with dense torch and returns the result."""
    found = function(*[tulle.tensor(one, format=format) for one in operands])
    expected = function(*operands)
    found_dense = dense(found)
    assert found_dense.dtype == expected.dtype
    torch.testing.assert_close(found_dense, expected, equal_nan=True)
    assert sparse is None or is_sparse(found) == sparse
    return found


# ---- functions of one operand ------------------------------------------------------------------

RANDOM = {"bernoulli", "dropout", "rrelu"}


def of_one_operand() -> list[tuple[str, Any]]:
    found = []
    for function, pointwise in BY_FUNCTION.items():
        # Methods of torch's tensors take dense receivers only.
        if pointwise.name in RANDOM or function is getattr(Tensor, pointwise.name, None):
            continue
        try:
            is_unary = function(torch.zeros(3)).shape == (3,)
        except (TypeError, RuntimeError, AttributeError):
            continue
        if is_unary:
            found.append((pointwise.name, function))
    return found


UNARY = of_one_operand()


def test_there_are_many_functions() -> None:
    assert len({name for name, _ in UNARY}) > 90


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted({name for name, _ in UNARY}))
def test_functions_of_one_operand(name: str, dtype: torch.dtype) -> None:
    data = A.to(dtype) if dtype.is_floating_point else (A * 4).to(dtype)
    for function in [function for other, function in UNARY if other == name]:
        try:
            expected = function(data)
        except (RuntimeError, NotImplementedError, TypeError):
            with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
                function(tulle.tensor(data))
            continue
        keeps = bool(function(torch.zeros(1, dtype=dtype)) == 0)
        for format in FEW if dtype == torch.float64 else ["csr"]:
            tensor = tulle.tensor(data, format=format)
            found = function(tensor)
            assert is_sparse(found) == keeps
            torch.testing.assert_close(dense(found), expected, equal_nan=True)
            if keeps:
                assert found.pattern is tensor.pattern


@pytest.mark.parametrize("name", sorted(METHODS))
def test_functions_are_methods(name: str) -> None:
    if name in RANDOM or name not in {name for name, _ in UNARY}:
        pytest.skip("not of one operand")
    data = A if name != "bitwise_not" else A != 0
    try:
        expected = getattr(data, name)()
    except TypeError:
        return
    found = getattr(tulle.tensor(data), name)()
    torch.testing.assert_close(dense(found), expected, equal_nan=True)


@pytest.mark.parametrize("format", FORMATS)
def test_one_operand_keeps_its_pattern(format: str) -> None:
    a = tulle.tensor(A, format=format)
    column, row = torch.rand(5, 1, dtype=A.dtype) + 1, torch.rand(6, dtype=A.dtype) + 1
    for found, expected in (
        (a.sin(), A.sin()),
        (functional.gelu(a), functional.gelu(A)),
        (a > 0, A > 0),
        (a != 0, A != 0),
        (a**2, A**2),
        (a * 3, A * 3),
        (a / 3, A / 3),
        (-a, -A),
        (a % 2, A % 2),
        (a * column, A * column),
        (row * a, row * A),
        (a.clamp(-0.5, 0.5), A.clamp(-0.5, 0.5)),
        (a.masked_fill(row > 1.5, 0), A.masked_fill(row > 1.5, 0)),
    ):
        assert_equal(found, expected)
        assert found.pattern is a.pattern
    assert_equal(a / column, A / column)
    assert_equal(a / row, A / row)


def test_duplicates_are_added_up_first() -> None:
    levels = [{"pos": [0, 3], "crd": [0, 0, 1]}, {"crd": [1, 1, 2]}]
    a = tulle.from_levels(DUPLICATES, (3, 4), levels, torch.tensor([1.0, -3, 3]))
    data = a.to_dense()
    assert data[0, 1] == -2
    assert_equal(a.abs(), data.abs())
    assert_equal(a > 0, data > 0)
    assert_equal(a * 2, data * 2)
    assert_equal(torch.maximum(a, a), data)
    assert_equal(a.var(1), data.var(1))
    assert a.sort(1).values.values().tolist() == [-2, 3]
    a.mul_(2)
    with pytest.raises(tulle.UserError, match="coordinate several times"):
        a.abs_()


def test_methods_of_arithmetic() -> None:
    a = tulle.tensor(A)
    for name in ("add", "sub", "mul", "div", "subtract", "multiply", "true_divide"):
        for other in (2, B + 2):
            assert_equal(getattr(a, name)(other), getattr(A, name)(other))
    assert_equal(a.add(B, alpha=2), A.add(B, alpha=2))
    assert_equal(a.div(2, rounding_mode="floor"), A.div(2, rounding_mode="floor"))
    assert_equal(a.mv(B[0]), A.mv(B[0]))


def test_modules() -> None:
    for module in (torch.nn.ReLU(), torch.nn.GELU(), torch.nn.SiLU(), torch.nn.LeakyReLU(0.1)):
        assert_equal(module(tulle.tensor(A)), module(A))
    assert_equal(torch.nn.Sigmoid()(tulle.tensor(A)), torch.sigmoid(A))


@pytest.mark.parametrize("format", FEW)
def test_dropout(format: str) -> None:
    a = tulle.tensor(A, format=format)
    torch.manual_seed(0)
    found = functional.dropout(a, 0.5)
    kept = found.values() != 0
    assert found.pattern is a.pattern
    torch.testing.assert_close(found.values()[kept], 2 * a.values()[kept])
    assert 0 < int(kept.sum()) < int((a.values() != 0).sum())
    assert_equal(functional.dropout(a, 0.5, training=False), A)
    assert_equal(torch.nn.Dropout(0.5).eval()(a), A)


# ---- comparisons, logic and other functions of two operands --------------------------------------

COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparisons(compare: Function, format: str) -> None:
    is_strict = compare in (operator.ne, operator.lt, operator.gt)
    check(compare, A, B, format=format, sparse=is_strict)
    check(lambda a: compare(a, 0), A, format=format, sparse=is_strict)
    check(lambda a: compare(0.25, a), A, format=format)
    check(lambda a: compare(a, B), A, format=format, sparse=False)
    check(lambda a: compare(B[0], a), A, format=format, sparse=False)
    assert_equal(compare(tulle.tensor(A, format=format), B.numpy()), compare(A, B))


def test_comparisons_beside_other_formats_and_types() -> None:
    for left, right in (("csr", "csc"), ("coo", "hyb(2,2)"), ("dia", "bitmap"), ("csr", "csr")):
        a, b = tulle.tensor(A, format=left), tulle.tensor((B * 4).int(), format=right)
        assert_equal(a < b, (B * 4).int() > A)
        assert_equal(torch.maximum(a, b), torch.maximum(A, (B * 4).int()))
        assert_equal(torch.logical_and(a, b), torch.logical_and(A, (B * 4).int()))
        assert_equal(torch.fmod(a, b.abs() + b.abs()).isnan() & (a != 0), _nan_quotients(A, B))
    assert (tulle.tensor(A) > 0).dtype == torch.bool


def _nan_quotients(a: Tensor, b: Tensor) -> Tensor:
    return (a != 0) & ((b * 4).int() == 0)


@pytest.mark.parametrize("format", FORMATS)
def test_logic(format: str) -> None:
    check(lambda a, b: (a > 0) & (b > 0), A, B, format=format, sparse=True)
    check(lambda a, b: (a > 0) | (b > 0), A, B, format=format, sparse=True)
    check(lambda a, b: (a > 0) ^ (b > 0), A, B, format=format, sparse=True)
    check(lambda a: ~(a > 0), A, format=format, sparse=False)
    check(lambda a: (a > 0) & (B > 0), A, format=format, sparse=True)
    check(lambda a: (a > 0) | (B > 0), A, format=format, sparse=False)
    check(torch.logical_xor, A, B, format=format, sparse=True)
    check(torch.logical_not, A, format=format, sparse=False)
    integers = (A * 4).long()
    check(lambda a: (a & 3) | (a ^ a), integers, format=format, sparse=True)
    check(lambda a: a << 1, integers, format=format, sparse=True)


TWO: dict[str, Function] = {
    "maximum": torch.maximum,
    "fmin": torch.fmin,
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "max": torch.max,
    "lerp": lambda a, b: torch.lerp(a, b, 0.25),
    "where": lambda a, b: torch.where(a > 0, a, b),
    "masked_fill": lambda a, b: a.masked_fill(b > 0, 5.0),
    "addcmul": lambda a, b: torch.addcmul(a, a, b, value=0.5),
    "isclose": torch.isclose,
    "pow": lambda a, b: a.abs() ** b.abs(),
    "method": lambda a, b: a.where(b > 0, 0),
    "where of equal operands": lambda a, b: torch.where(b > 0, a, a),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_operands(name: str, format: str) -> None:
    check(TWO[name], A, B, format=format, sparse=name not in ("isclose", "pow"))
    check(lambda a: TWO[name](a, B), A, format=format)
    if format == "csr":
        row = tulle.tensor(B[:1], format="coo")
        assert_equal(TWO[name](tulle.tensor(A), row), TWO[name](A, B[:1]))


NUMBERS: dict[str, Function] = {
    "a**2": lambda a: a**2,
    "a**0": lambda a: a**0,
    "a**-1": lambda a: a**-1,
    "2**a": lambda a: 2**a,
    "5.0 % (a + 9)": lambda a: 5.0 % (a + 9),
    "a % 2": lambda a: a % 2,
    "a // 2": lambda a: a // 2,
    "a // dense": lambda a: a // (B + 3),
    "fmod": lambda a: torch.fmod(a, 0.3),
    "clamp(min=0)": lambda a: a.clamp(min=0),
    "clamp(min=1)": lambda a: a.clamp(min=1),
    "clip": lambda a: torch.clip(a, -0.5, 0.5),
    "clamp(dense)": lambda a: torch.clamp(a, max=B),
    "nan_to_num": lambda a: torch.nan_to_num(a / a),
    "rsub": lambda a: 3 - a,
    "leaky_relu": lambda a: functional.leaky_relu(a, 0.2),
    "hardtanh": lambda a: functional.hardtanh(a, 0.1, 0.5),
    "threshold": lambda a: functional.threshold(a, 0.1, 0.0),
    "softplus": functional.softplus,
    "where(dense)": lambda a: torch.where(B > 0, a, 0),
    "where(sparse, dense, 0)": lambda a: torch.where(a > 0, B, 0),
    "where(sparse, 1, 0)": lambda a: torch.where(a > 0, 1.0, 0.0),
    "where(sparse, a, 1)": lambda a: torch.where(a > 0, a, 1.0),
    "scalar tensor": lambda a: torch.maximum(a, torch.tensor(0.2, dtype=torch.float64)),
}


@pytest.mark.parametrize("format", FEW)
@pytest.mark.parametrize("name", NUMBERS)
def test_functions_of_a_tensor_and_numbers(name: str, format: str) -> None:
    full = A + 0.5 * (A != 0)
    if name == "nan_to_num":
        a = tulle.tensor(A, format=format)
        assert_equal(torch.nan_to_num(a * torch.nan), torch.nan_to_num(A * torch.nan) * (A != 0))
        return
    check(NUMBERS[name], full, format=format)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool])
def test_types(dtype: torch.dtype) -> None:
    data = (A * 4).to(dtype)
    other = (B * 4).to(dtype)
    a, b = tulle.tensor(data), tulle.tensor(other)
    for function in (operator.gt, operator.ne, torch.logical_and):
        assert_equal(function(a, b), function(data, other))
    assert_equal(a > 0.5, data > 0.5)
    assert_equal(a.isnan(), data.isnan())
    if dtype != torch.bool:
        assert_equal(a**2, data**2)
        assert_equal(torch.maximum(a, b), torch.maximum(data, other))
        assert_equal(a * 2.5, data * 2.5)
        assert_equal(a / 2, data / 2)


def test_quotients_are_absent_where_the_numerator_is() -> None:
    a, zero = tulle.tensor(A), torch.zeros(5, 6, dtype=A.dtype)
    for function in (torch.fmod, torch.remainder, torch.xlogy):
        found = function(a, zero)
        assert found.pattern is a.pattern
    assert_equal(torch.div(a, 2, rounding_mode="floor"), torch.div(A, 2, rounding_mode="floor"))


def test_large_tensors_stay_sparse() -> None:
    n = 10**7
    levels = [{"pos": [0, 2], "crd": [3, n - 1]}, {"crd": [5, 6]}]
    a = tulle.from_levels("coo", (n, n), levels, [1.0, -2.0])
    b = tulle.from_levels("coo", (n, n), [levels[0], {"crd": [5, 7]}], [1.0, -2.0])
    for found, nnz in (
        (a > 0, 2),
        (a != b, 3),
        (torch.where(a > b, a, 0), 3),
        (torch.logical_and(a, b), 1),
        (torch.maximum(a, b), 3),
        (a.clamp(max=1), 2),
        (a % 2, 2),
        (torch.fmod(a, b), 2),
        (a.masked_fill(b > 0, 3), 3),
        (b.sparse_mask(a), 2),
    ):
        assert found.nnz == nnz
    assert (a.max(), a.min(), a.any(), a.count_nonzero()) == (1, -2, True, 2)
    assert torch.equal(a, a.clone())
    assert not torch.allclose(a, b)
    with pytest.raises(tulle.UserError, match="half of the free memory"):
        a.exp()


def test_shapes_must_fit() -> None:
    for other in (torch.rand(3, 3), tulle.tensor(torch.rand(3, 3))):
        for function in (operator.lt, operator.ge, torch.maximum, torch.fmod):
            with pytest.raises(tulle.UserError, match=r"the shapes \[5, 6\], \[3, 3\] do not fit"):
                function(tulle.tensor(A), other)


def test_equality_and_closeness_of_tensors() -> None:
    a = tulle.tensor(A)
    assert torch.equal(a, tulle.tensor(A, format="csc"))
    assert not torch.equal(a, tulle.tensor(B))
    assert torch.allclose(a, tulle.tensor(A + 1e-12 * (A != 0), format="coo"))
    assert not torch.allclose(a, tulle.tensor(B))


# ---- gradients -----------------------------------------------------------------------------------

GRADIENTS: dict[str, Function] = {
    "sin": lambda a, d: a.sin(),
    "exp": lambda a, d: a.exp(),
    "pow": lambda a, d: a**3,
    "number": lambda a, d: a * 3 / 2,
    "maximum": lambda a, d: torch.maximum(a, tulle.tensor(B, format="csr")),
    "atan2": lambda a, d: torch.atan2(a, tulle.tensor(B, format="coo")),
    "where": lambda a, d: torch.where(a > 0, d, 0) + torch.where(a > 0, a, 0),
    "column": lambda a, d: a / (d[:, :1] + 2) * d[0],
    "masked_fill": lambda a, d: a.masked_fill(B > 0, 0),
    "var": lambda a, d: a.var(1) + a.std(1, correction=0),
    "norm": lambda a, d: a.norm(dim=1) + torch.linalg.vector_norm(a, 3),
    "sort": lambda a, d: a.sort(1).values,
    "topk": lambda a, d: a.topk(1, 0).values,
    "sampled": lambda a, d: torch.sparse.sampled_addmm(a, d, d.T @ d, beta=0.5, alpha=2),
    "sparse_mask": lambda a, d: (d * 2).sparse_mask(a) if False else a.sparse_mask(a),
}


@pytest.mark.parametrize("format", ["csr", "coo", "bsr(2,3)", "dia", "hyb(2,2)"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str, format: str) -> None:
    generator = torch.Generator().manual_seed(3)
    values = torch.rand(5, 6, generator=generator, dtype=torch.float64) + 0.1
    a = tulle.tensor(values * (A != 0), format=format)
    dense_operand = torch.rand(5, 6, generator=generator, dtype=torch.float64)
    held = _slots_of_entries(a)

    def function(entries: Tensor, other: Tensor) -> Tensor:
        stored = a.values().clone().index_put((held,), entries)
        result = GRADIENTS[name](a.with_values(stored), other)
        finite = result.values() if is_sparse(result) else result
        return torch.where(finite.isfinite(), finite, 0)

    leaves = [a.values()[held].clone().requires_grad_(), dense_operand.requires_grad_()]
    assert gradcheck(function, leaves)
    if format == "csr" and name in ("sin", "pow", "column", "sampled"):
        assert gradgradcheck(function, leaves)


def _slots_of_entries(a: Any) -> Tensor:
    """The slots that hold values other than 0."""
    return a.values().nonzero()[:, 0]


def test_absent_kinds_are_right() -> None:
    """Functions of one operand map 0 to 0 with any options."""
    for function, pointwise in BY_FUNCTION.items():
        is_method = function is getattr(Tensor, pointwise.name, None)
        if pointwise.absent is Absent.WITH_OPERAND and not is_method:
            given = (0.5, True) if function is torch.dropout else ()
            assert float(function(torch.zeros(1), *given)) == 0, pointwise.name


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_sparse_tensors_of_torch_are_operands(layout: torch.layout) -> None:
    a, b = random_sparse(4, 5), random_sparse(4, 5, seed=3)
    given, tensor = b.to_sparse(layout=layout), tulle.tensor(a)
    for function in (torch.maximum, torch.gt, torch.atan2, torch.where):
        arguments = (tensor > 0.5,) if function is torch.where else ()
        expected = (a > 0.5,) if function is torch.where else ()
        found = function(*arguments, tensor, given)
        assert isinstance(found, tulle.SparseTensor)
        assert_equal(found, function(*expected, a, b))
