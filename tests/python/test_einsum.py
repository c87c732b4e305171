"""tulle.einsum against torch.einsum."""

from __future__ import annotations

import pytest
import torch
from helpers import DTYPES, MATRIX_FORMATS, assert_equal, random_dense, random_sparse

import tulle

SIZES = {"a": 2, "b": 3, "c": 4, "i": 4, "j": 5, "k": 3, "l": 6, "m": 2}


def operands(equation: str, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Random operands with the sizes of their letters; every second one is sparser."""
    terms = equation.split("->")[0].split(",")
    shapes = [[SIZES[letter] for letter in term] for term in terms]
    return [
        random_sparse(*shape, density=0.4, seed=n, dtype=dtype) for n, shape in enumerate(shapes)
    ]


EQUATIONS = [
    "ij,jk->ik",
    "ij,kj->ik",
    "ij,jk",
    "ij->ji",
    "ij->i",
    "ij->j",
    "ij->",
    "i,j->ij",
    "i,i->",
    "ij,ij->ij",
    "ij,ij->",
    "ij,ij->i",
    "ij,jk,kl->il",
    "ji,jk->ik",
    "ijk,k->ij",
    "ijk,j->ik",
    "ijk,i->jk",
    "ijk,kl->ijl",
    "ijk,jl,kl->il",
    "ijkm,jl,kl,ml->il",
    "ijk,ijk->",
    "bij,bjk->bik",
]


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("sparse", ["first", "all", "last"])
def test_equations(equation: str, sparse: str) -> None:
    dense = operands(equation)
    tensors = [
        tulle.tensor(each, format="csf")
        if sparse == "all" or at == (0 if sparse == "first" else len(dense) - 1)
        else each
        for at, each in enumerate(dense)
    ]
    assert_equal(tulle.einsum(equation, *tensors), torch.einsum(equation, *dense))


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("equation", ["ii->i", "ii->", "ij,jk->ik", "ij->ji", "ji,jk->ik"])
def test_formats(format: str, equation: str) -> None:
    square = [random_sparse(6, 6, seed=n) for n in range(equation.count(",") + 1)]
    tensors = [tulle.tensor(each, format=format) for each in square]
    assert_equal(tulle.einsum(equation, *tensors), torch.einsum(equation, *square))


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype: torch.dtype) -> None:
    a, b = operands("ij,jk->ik", dtype)
    assert_equal(tulle.einsum("ij,jk->ik", tulle.tensor(a), b), a @ b)


def test_ellipsis_and_spaces() -> None:
    a, b = random_sparse(2, 3, 4), random_dense(4, 5)
    tensor = tulle.tensor(a)
    assert_equal(tulle.einsum("...j, jk -> ...k", tensor, b), torch.einsum("...j,jk->...k", a, b))
    assert_equal(tulle.einsum("b...->...", tensor), a.sum(0))


def test_broadcasting_of_size_one() -> None:
    a, b = random_sparse(4, 1), random_dense(5, 3)
    assert_equal(tulle.einsum("ij,jk->ik", tulle.tensor(a), b), torch.einsum("ij,jk->ik", a, b))
    c, d = random_sparse(1, 3, 4), random_dense(2, 4, 5)
    expected = torch.einsum("bij,bjk->bik", c, d)
    assert_equal(tulle.einsum("bij,bjk->bik", tulle.tensor(c), d), expected)
    expected = torch.einsum("...ij,...jk->...ik", c, d)
    assert_equal(tulle.einsum("...ij,...jk->...ik", tulle.tensor(c), d), expected)
    assert_equal(tulle.einsum("...ij,...jk", tulle.tensor(c), d), expected)


def test_out_format() -> None:
    a, b = random_sparse(4, 5), random_sparse(5, 6, seed=1)
    result = tulle.einsum("ij,jk->ik", tulle.tensor(a), tulle.tensor(b), out_format="csc")
    assert result.format == "csc"
    assert_equal(result, a @ b)
    result = tulle.einsum("ij,jk->ik", tulle.tensor(a), tulle.tensor(b), out_format="dense")
    assert isinstance(result, torch.Tensor)
    assert_equal(result, a @ b)


def test_torch_einsum() -> None:
    a, b = random_sparse(4, 5), random_dense(5, 6)
    assert_equal(torch.einsum("ij,jk->ik", tulle.tensor(a), b), a @ b)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij->ij", "1 operand, but 2 were given"),
        ("ijk,jk->ik", "rank 2"),
        ("i?,jk->ik", "unexpected '"),
        ("ij,jk->iz", "z"),
        ("ij,kl->ik,", "unexpected '|','"),
    ],
)
def test_wrong_equations_are_refused(equation: str, message: str) -> None:
    a, b = random_sparse(4, 5), random_dense(5, 6)
    with pytest.raises(tulle.UserError, match=message):
        tulle.einsum(equation, tulle.tensor(a), b)


def test_wrong_sizes_and_operands_are_refused() -> None:
    a, b = random_sparse(4, 5), random_dense(4, 6)
    with pytest.raises(tulle.UserError, match=r"\bj\b"):
        tulle.einsum("ij,jk->ik", tulle.tensor(a), b)
    with pytest.raises(tulle.UserError, match="expected a tensor"):
        tulle.einsum("ij,jk->ik", tulle.tensor(a), "B")
    with pytest.raises(tulle.UserError, match="reduce must be one of sum, mean, amax"):
        tulle.einsum("ij,jk->ik", tulle.tensor(a), b, reduce="median")
