"""Functions of torch called with keywords: torch's names of arguments, and `out=`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse
from torch import Tensor

import tulle
from tulle.tensors.torch_dispatch import handlers

A, B, X = random_sparse(5, 7), random_sparse(5, 7, seed=1), random_dense(5, 7)
V = random_dense(7)

# What the schemas of torch's operators have in addition to what users of the functions write.
_NO_ARGUMENTS = {
    *("out", "out_dtype", "pin_memory", "names", "values", "indices", "generator", "mode"),
    *("max", "max_values", "min", "min_indices", "tensor_indices_or_sections"),
}
# Overloads for lists and numbers of TorchScript.
_OF_SCRIPTS = ({"a", "b"}, {"l", "n"}, {"input", "reverse"}, {"list", "idx"})


def _overloads(name: str) -> list[set[str]]:
    packet = getattr(torch.ops.aten, name, None)
    schemas = [getattr(packet, each)._schema for each in packet.overloads()] if packet else []
    found = []
    for schema in schemas:
        names = ["input" if one.name == "self" else one.name for one in schema.arguments]
        if "Dimname" not in str(schema) and not schema.overload_name.endswith("out"):
            found.append(set(names))
    return found


def test_handlers_know_the_names_of_arguments() -> None:
    count = 0
    for function, handler in handlers.items():
        name = getattr(function, "__name__", "_")
        parameters = inspect.signature(handler).parameters.values()
        if (
            name in ("copy_", "where")
            or name.startswith("_")
            or any(one.kind is one.VAR_KEYWORD for one in parameters)
        ):
            continue
        known = {one.name for one in parameters} | _NO_ARGUMENTS
        if function is getattr(Tensor, name, None):  # the first argument has no name
            known.add("input")
        elif inspect.isfunction(function) or name in ("einsum", "result_type"):
            continue
        for names in _overloads(name):
            if names not in _OF_SCRIPTS and not (name == "linalg_diagonal" and "A" in names):
                assert names <= known, name
                count += 1
    assert count > 250


CALLS: list[Callable[..., Any]] = [
    lambda a, b, x, v: torch.add(input=a, other=b, alpha=2),
    lambda a, b, x, v: a.add(other=x),
    lambda a, b, x, v: torch.mul(a, other=x),
    lambda a, b, x, v: torch.div(input=a, other=x.abs() + 1, rounding_mode="floor"),
    lambda a, b, x, v: torch.mm(input=a, mat2=x.T),
    lambda a, b, x, v: a.mm(mat2=x.T),
    lambda a, b, x, v: torch.mv(input=a, vec=v),
    lambda a, b, x, v: a.mv(vec=v),
    lambda a, b, x, v: torch.matmul(input=a, other=b.T),
    lambda a, b, x, v: torch.addmm(input=x @ x.T, mat1=a, mat2=x.T, beta=2),
    lambda a, b, x, v: torch.amax(input=a, dim=1),
    lambda a, b, x, v: torch.max(a, other=b),
    lambda a, b, x, v: torch.logsumexp(input=a, dim=0),
    lambda a, b, x, v: torch.transpose(input=a, dim0=0, dim1=1),
    lambda a, b, x, v: torch.remainder(input=a, other=2),
    lambda a, b, x, v: torch.pow(input=a, exponent=2),
    lambda a, b, x, v: torch.linalg.norm(x=a, ord=1),
    lambda a, b, x, v: torch.linalg.vector_norm(input=a, dim=1),
]


@pytest.mark.parametrize("call", CALLS)
def test_calls_with_keywords(call: Callable[..., Any]) -> None:
    found = call(tulle.tensor(A), tulle.tensor(B), X, V)
    assert_equal(found, call(A, B, X, V))


def test_keywords_do_not_make_results_dense() -> None:
    a = tulle.tensor(A)
    for found in (torch.remainder(input=a, other=2), torch.xlogy(input=a, other=X.abs() + 1)):
        assert isinstance(found, tulle.SparseTensor)


OUTPUTS: list[Callable[..., Any]] = [
    lambda a, out: torch.sum(a, 1, out=out),
    lambda a, out: torch.amax(a, dim=1, out=out),
    lambda a, out: torch.mean(input=a, dim=1, out=out),
    lambda a, out: torch.linalg.vector_norm(a, dim=1, out=out),
]


@pytest.mark.parametrize("call", OUTPUTS)
def test_results_are_written(call: Callable[..., Any]) -> None:
    for out in (torch.full((5,), torch.nan, dtype=A.dtype), torch.empty(0, dtype=A.dtype)):
        assert call(tulle.tensor(A), out) is out
        assert_equal(out, call(A, None))


def test_elementwise_and_several_results_are_written() -> None:
    a, out = tulle.tensor(A), torch.empty(5, 7, dtype=A.dtype)
    assert_equal(torch.exp(a, out=out), A.exp())
    assert_equal(torch.add(a, X, out=out), A + X)
    assert_equal(torch.maximum(a, X, out=out), torch.maximum(A, X))
    assert_equal(out, torch.maximum(A, X))
    values, places = torch.empty(5, dtype=A.dtype), torch.empty(5, dtype=torch.int64)
    found = torch.max(a, 1, out=(values, places))
    assert found.values is values
    assert_equal(places, A.max(1).indices)


def test_sparse_results_are_written() -> None:
    for format in ("csr", "coo", "bsr(2,3)", "hyb(2,2)"):
        a, b = tulle.tensor(A, format=format), tulle.tensor(B, format=format)
        for function in (torch.add, torch.mul, torch.sub):
            out = a.clone()
            assert function(a, b, out=out) is out
            assert_equal(out, function(A, B))
            assert str(out.format) == format
        assert_equal(torch.neg(b, out=a.clone()), -B)
        out = torch.zeros_like(a @ b.T)
        assert torch.mm(a, b.T, out=out) is out
        assert_equal(out, A @ B.T)


MISTAKES: list[tuple[Callable[..., Any], str]] = [
    (lambda a: torch.abs(a, out=torch.empty(5, 7, dtype=A.dtype)), "the result is sparse"),
    (lambda a: torch.sum(a, 1, out=torch.empty(4, dtype=A.dtype)), "shape"),
    (lambda a: torch.sum(a, 1, out=torch.empty(5, dtype=torch.int64)), "type"),
    (lambda a: torch.sum(a, 1, out=a), "the result is dense"),
    (lambda a: torch.sum(a.requires_grad_(), 1, out=torch.empty(5, dtype=A.dtype)), "gradient"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes(call: Callable[..., Any], message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        call(tulle.tensor(A))
