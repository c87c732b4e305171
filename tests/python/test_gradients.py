"""Gradients against dense autograd, gradcheck and gradgradcheck: expressions x formats x operands.

A run takes each expression with CSR and with some of the other formats. TULLE_TEST_FULL=1 takes all
formats. The end of a run tells the number of combinations.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from helpers import gradient_checks, random_dense, random_sparse
from torch import Tensor
from torch.autograd import forward_ad, gradcheck, gradgradcheck

import tulle

IS_FULL = bool(os.environ.get("TULLE_TEST_FULL"))
ROWS, COLUMNS, WIDTH = 5, 6, 3
MATRIX_FORMATS = [
    *("csr", "csc", "coo", "dcsr", "dcsc", "bsr(2,3)", "bsc(2,3)", "dbsr(2,2)", "ell(6)"),
    *("dell(6)", "dia", "bitmap", "pieces(2)", "sr-bcrs(2,2)"),
    *("hyb(2,2)", "{ band(-1,1): dia; rest: csr }"),
    "(i,j) -> (j: dense, i: dense)",
]
CUBE_FORMATS = ["csf", "coo", "(i,j,k) -> (i: dense, j: compressed, k: dense)"]

# Index notation over A (sparse, ROWS x COLUMNS), B (sparse, like A), X, Q, K, c, r (dense), and the
# same with dense tensors.
Dense = dict[str, Tensor]


class Expression(NamedTuple):
    text: str
    dense: Callable[[Dense], Tensor]


def _stored(values: Tensor, mask: Tensor, other: float) -> Tensor:
    return torch.where(mask != 0, values, other)


def _softmax(values: Tensor, mask: Tensor) -> Tensor:
    """Over the entries of a row; 0 elsewhere."""
    weights = torch.softmax(_stored(values, mask, -torch.inf), 1)
    return torch.where(mask != 0, weights.nan_to_num(), 0)


EXPRESSIONS = {
    "spmm": Expression("C[i,k] = A[i,j] * X[j,k]", lambda t: t["A"] @ t["X"]),
    "transposed": Expression("C[j,k] = A[i,j] * Q[i,k]", lambda t: t["A"].T @ t["Q"]),
    "spmv": Expression("y[i] = A[i,j] * r[j]", lambda t: t["A"] @ t["r"]),
    "sddmm": Expression(
        "S[i,j] = A[i,j] * Q[i,k] * X[j,k]", lambda t: t["A"] * (t["Q"] @ t["X"].T)
    ),
    "spgemm": Expression("C[i,k] = A[i,j] * B[k,j]", lambda t: t["A"] @ t["B"].T),
    "sum": Expression("C[i,j] = A[i,j] + 2 * B[i,j]", lambda t: t["A"] + 2 * t["B"]),
    "product": Expression("C[i,j] = A[i,j] * B[i,j]", lambda t: t["A"] * t["B"]),
    "scaled": Expression(
        "C[i,j] = A[i,j] * c[i] / r[j]", lambda t: t["A"] * t["c"][:, None] / t["r"]
    ),
    "functions": Expression(
        "C[i,j] = tanh(A[i,j]) + exp(c[i]) * sin(B[i,j])",
        lambda t: torch.tanh(t["A"]) + torch.exp(t["c"])[:, None] * torch.sin(t["B"]),
    ),
    "row sums": Expression("y[i] = A[i,j]", lambda t: t["A"].sum(1)),
    "all": Expression("y = A[i,j] * A[i,j]", lambda t: (t["A"] ** 2).sum()),
    "mean": Expression("y[j] = mean(i, A[i,j] * c[i])", lambda t: (t["A"].T * t["c"]).mean(1)),
    "max": Expression("y[i] = max(j, A[i,j])", lambda t: t["A"].amax(1)),
    "min": Expression("y[j] = min(i, A[i,j] * c[i])", lambda t: (t["A"].T * t["c"]).amin(1)),
    "logsumexp": Expression(
        "y[i] = logsumexp(j, A[i,j] * r[j])", lambda t: torch.logsumexp(t["A"] * t["r"], 1)
    ),
    "norm": Expression(
        "n[i] = sqrt(sum(j, A[i,j] * A[i,j]) + 1)",
        lambda t: torch.sqrt((t["A"] ** 2).sum(1) + 1),
    ),
    "within": Expression(
        "C[i,j] = within(A[i,j], c[i] * r[j])",
        lambda t: torch.where(t["mask"] != 0, t["c"][:, None] * t["r"], 0),
    ),
    "where": Expression(
        "C[i,j] = A[i,j] * max(c[i], r[j])",
        lambda t: t["A"] * torch.maximum(t["c"][:, None], t["r"]),
    ),
    "softmax": Expression(
        "C[i,j] = softmax(j in A[i,j], A[i,j] * r[j])",
        lambda t: _softmax(t["A"] * t["r"], t["mask"]),
    ),
    "attention": Expression(
        "S[i,j] = A[i,j] * sum(k, Q[i,k] * X[j,k])\n"
        "W[i,j] = softmax(j in A[i,j], S[i,j])\n"
        "O[i,k] = W[i,j] * X[j,k]",
        lambda t: _softmax(t["A"] * (t["Q"] @ t["X"].T), t["mask"]) @ t["X"],
    ),
    "layers": Expression(
        "H[i,k] = A[i,j] * X[j,k]\nR[i,k] = relu(H[i,k])\ny[k] = R[i,k] * Q[i,k]",
        lambda t: (torch.relu(t["A"] @ t["X"]) * t["Q"]).sum(0),
    ),
}
# Whose dense equivalent sees the padding of blocks.
OVER_ENTRIES = {"within", "softmax", "attention"}


def pairs(formats: list[str], step: int) -> list[tuple[str, str]]:
    """Names of expressions with formats: the first format, and every `step`-th of the others,
    beginning with another one for each expression."""
    if IS_FULL:
        step = 1
    first, *others = formats
    return [
        (name, format)
        for at, name in enumerate(EXPRESSIONS)
        for format in (first, *others[at % step :: step])
    ]


class Case(NamedTuple):
    """The operands of an expression: leaves, and how to make the tensors of them."""

    leaves: dict[str, Tensor]
    patterns: dict[str, tulle.SparseTensor]

    def operands(self, leaves: dict[str, Tensor]) -> dict[str, object]:
        return {
            name: self.patterns[name].with_values(leaf) if name in self.patterns else leaf
            for name, leaf in leaves.items()
        }

    def whole(self, leaves: dict[str, Tensor]) -> Dense:
        """Dense tensors with the graphs of the leaves."""
        dense: Dense = {}
        for name, leaf in leaves.items():
            dense[name] = self.scattered(name, leaf) if name in self.patterns else leaf
        mask = torch.zeros(ROWS, COLUMNS, dtype=torch.float64)
        mask[tuple(self.patterns["A"].coordinates())] = 1
        return {**dense, "mask": mask}

    def scattered(self, name: str, leaf: Tensor) -> Tensor:
        coordinates, values = self.patterns[name].with_values(leaf).entries()
        place = tuple(coordinates)
        whole = leaf.new_zeros(self.patterns[name].shape)
        return whole.index_put(place, values, accumulate=True)


def case(text: str, format: str, seed: int = 0) -> Case:
    torch.manual_seed(seed)
    patterns = {}
    leaves: dict[str, Tensor] = {}
    for name in ("A", "B"):
        if f"{name}[" not in text:
            continue
        made = tulle.tensor(random_sparse(ROWS, COLUMNS, density=0.45), format="csr")
        made = made.with_values(made.values() + 0.1 * torch.rand_like(made.values()))
        patterns[name] = made.to(format=format)
        if isinstance(patterns[name], Tensor):  # a dense format
            leaves[name] = patterns.pop(name).clone()
        else:
            leaves[name] = patterns[name].values().detach().clone()
    dense = {"X": (COLUMNS, WIDTH), "Q": (ROWS, WIDTH), "c": (ROWS,), "r": (COLUMNS,)}
    for name, shape in dense.items():
        if f"{name}[" in text:
            leaves[name] = random_dense(*shape) + torch.rand(shape, dtype=torch.float64)
    return Case(leaves, patterns)


def run(text: str, operands: dict[str, object]) -> Tensor:
    result = tulle.compute(text, **operands)
    return result.to_dense() if isinstance(result, tulle.SparseTensor) else result


@pytest.mark.parametrize(("name", "format"), pairs(MATRIX_FORMATS, 5))
def test_gradients_equal_dense_ones(name: str, format: str) -> None:
    text, dense = EXPRESSIONS[name]
    made = case(text, format)
    for wanted in made.leaves:
        leaves = {n: leaf.clone().requires_grad_(n == wanted) for n, leaf in made.leaves.items()}
        found = run(text, made.operands(leaves))
        goal = dense(made.whole(leaves))
        torch.testing.assert_close(found, goal)
        if not goal.requires_grad:
            continue
        weights = torch.rand_like(goal)
        (expected,) = torch.autograd.grad(goal, leaves[wanted], weights, allow_unused=True)
        (computed,) = torch.autograd.grad(found, leaves[wanted], weights)
        expected = torch.zeros_like(computed) if expected is None else expected
        torch.testing.assert_close(computed, expected)
        gradient_checks["dense autograd"] += 1


SOME_FORMATS = ["csr", "coo", "bsr(2,3)", "dia", "hyb(2,2)"]


@pytest.mark.parametrize(("name", "format"), pairs(MATRIX_FORMATS if IS_FULL else SOME_FORMATS, 4))
def test_gradcheck(name: str, format: str) -> None:
    """First and second derivatives, and tangents, towards all operands at once."""
    text, _ = EXPRESSIONS[name]
    made = case(text, format)
    names = list(made.leaves)

    def function(*leaves: Tensor) -> Tensor:
        return run(text, made.operands(dict(zip(names, leaves, strict=True))))

    leaves = tuple(made.leaves[name].clone().requires_grad_() for name in names)
    # Padding of parts and blocks is no input of the function.
    is_padded = any(pattern.pattern.has_padding for pattern in made.patterns.values())
    if not is_padded:
        assert gradcheck(function, leaves, check_forward_ad=True)
        gradient_checks["gradcheck"] += len(names)
    assert gradgradcheck(function, leaves)
    gradient_checks["gradgradcheck"] += len(names)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["spmm", "sddmm", "softmax", "attention", "row sums", "layers"])
def test_gradients_of_other_types(name: str, dtype: torch.dtype) -> None:
    text, dense = EXPRESSIONS[name]
    made = case(text, "csr")
    leaves = {n: leaf.to(dtype).requires_grad_() for n, leaf in made.leaves.items()}
    exact = {n: leaf.detach().double().requires_grad_() for n, leaf in leaves.items()}
    found, goal = run(text, made.operands(leaves)), dense(made.whole(exact))
    weights = torch.rand_like(goal).to(dtype)
    computed = torch.autograd.grad(found, list(leaves.values()), weights)
    expected = torch.autograd.grad(goal, list(exact.values()), weights.double())
    tolerance = 40 * torch.finfo(dtype).eps
    for one, other in zip(computed, expected, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one.double(), other, rtol=tolerance, atol=tolerance)
        gradient_checks["dense autograd"] += 1


@pytest.mark.parametrize("format", CUBE_FORMATS)
def test_gradients_of_mttkrp(format: str) -> None:
    torch.manual_seed(0)
    cube = torch.rand(3, 4, 5, dtype=torch.float64) * (torch.rand(3, 4, 5) < 0.4)
    tensor = tulle.tensor(cube).to(format=format)
    text = "M[i,f] = T[i,j,k] * B[j,f] * C[k,f]"

    def function(values: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return run(text, {"T": tensor.with_values(values), "B": b, "C": c})

    leaves = (tensor.values().clone(), random_dense(4, 2), random_dense(5, 2))
    leaves = tuple(leaf.requires_grad_() for leaf in leaves)
    assert gradcheck(function, leaves, check_forward_ad=True)
    assert gradgradcheck(function, leaves)


def test_operators_carry_gradients() -> None:
    dense = random_sparse(4, 4).requires_grad_()
    tensor = tulle.tensor(dense.detach())
    values = tensor.values().clone().requires_grad_()
    learned = tensor.with_values(values)
    found = ((learned @ learned).to(format="csc") * 2 + learned).sum(1) - learned.T.amax(0)
    goal = ((dense @ dense) * 2 + dense).sum(1) - dense.T.amax(0)
    torch.testing.assert_close(found, goal)
    (expected,) = torch.autograd.grad(goal.sum(), dense)
    (computed,) = torch.autograd.grad(found.sum(), values)
    torch.testing.assert_close(computed, expected[tuple(tensor.coordinates())])


def test_several_results_and_unused_ones() -> None:
    text = "C[i,k] = A[i,j] * X[j,k]\ny[i] = sum(j, A[i,j] * r[j])"
    made = case(text, "csr")
    leaves = {name: leaf.clone().requires_grad_() for name, leaf in made.leaves.items()}
    c, y = tulle.compute(text, **made.operands(leaves))
    whole = made.whole(leaves)
    for one, goal in ((y, whole["A"] @ whole["r"]), (c, whole["A"] @ whole["X"])):
        computed = torch.autograd.grad(
            one.sum(), list(leaves.values()), retain_graph=True, allow_unused=True
        )
        expected = torch.autograd.grad(
            goal.sum(), list(leaves.values()), retain_graph=True, allow_unused=True
        )
        for left, right in zip(computed, expected, strict=True):
            torch.testing.assert_close(
                torch.zeros(()) if left is None else left.sum(),
                torch.zeros(()) if right is None else right.sum(),
                check_dtype=False,
            )


def test_forward_mode_and_transforms() -> None:
    tensor, x = tulle.tensor(random_sparse(4, 5)), random_dense(5, 6)
    for _ in range(2):
        value, tangent = torch.func.jvp(lambda b: tensor @ b, (x,), (x,))
        torch.testing.assert_close(value, tangent)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, torch.ones_like(x))
            primal, change = forward_ad.unpack_dual(tensor @ dual)
            torch.testing.assert_close(primal, tensor @ x)
            torch.testing.assert_close(change, tensor @ torch.ones_like(x))
    of_values = torch.func.grad(lambda v: (tensor.with_values(v) @ x).sum())(tensor.values())
    torch.testing.assert_close(of_values, x.sum(1)[tensor.coordinates()[1]])
    pulled, pull = torch.func.vjp(lambda b: tensor @ b, x)
    torch.testing.assert_close(pull(pulled)[0], tensor.to_dense().T @ (tensor @ x))


def test_no_gradient_without_need() -> None:
    tensor, x = tulle.tensor(random_sparse(4, 5)), random_dense(5, 6).requires_grad_()
    with torch.no_grad():
        assert not (tensor @ x).requires_grad
    assert (tensor @ x).requires_grad
    assert not (tensor @ x.detach()).requires_grad
    counted = tulle.compute("y[i] = argmax(j, A[i,j])", A=tensor)
    assert not counted.requires_grad


def test_backward_reads_no_changed_operands() -> None:
    """A write between forward and backward is an error, as everywhere in torch."""
    tensor, x = tulle.tensor(random_sparse(4, 5)), random_dense(5, 6)
    values = tensor.values().clone().requires_grad_()
    result = tensor.with_values(values) @ x
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


@pytest.mark.parametrize("rows", [7, 300])
def test_a_pruned_weight_whose_gradient_sums_over_rows(rows: int) -> None:
    """The gradient of the weight reads the rows of x and y in columns."""
    x = torch.randn(rows, 20, dtype=torch.float64, requires_grad=True)
    weight = tulle.rand(30, 20, nnz=500).to(torch.float64)
    values = weight.values().clone().requires_grad_()
    y = tulle.compute("Y[n,o] = X[n,i] * W[o,i]", X=x, W=weight.with_values(values))
    (y * y).sum().backward()
    dense = weight.to_dense().requires_grad_()
    copy = x.detach().clone().requires_grad_()
    (copy @ dense.T).square().sum().backward()
    torch.testing.assert_close(x.grad, copy.grad)
    torch.testing.assert_close(
        weight.with_values(values.grad).to_dense(), dense.grad * (weight.to_dense() != 0)
    )


def test_sums_across_rows_read_transposed_copies() -> None:
    g, x = random_dense(300, 30), random_dense(300, 20, seed=1)
    mask = tulle.rand(30, 20, nnz=500).to(torch.float64)
    text = "G[o,i] = within(W[o,i], sum(n, g[n,o] * x[n,i] * g[n,o]))"
    assert "g is transposed" in str(tulle.explain(text, W=mask, g=g, x=x))
    expected = torch.einsum("no,ni->oi", g * g, x) * (mask.to_dense() != 0)
    torch.testing.assert_close(tulle.compute(text, W=mask, g=g, x=x).to_dense(), expected)


@pytest.mark.skipif(not IS_FULL, reason="only with TULLE_TEST_FULL=1")
def test_the_whole_run_checks_2000_combinations(request: pytest.FixtureRequest) -> None:
    """The last test of gradients: the files of tests run in the order of their names."""
    wanted = {"test_gradcheck": len(EXPRESSIONS) * len(MATRIX_FORMATS), "test_random_program": 240}
    for name, number in wanted.items():
        found = sum(item.originalname == name for item in request.session.items)
        if found < number:
            pytest.skip(f"only {found} of at least {number} cases of {name} were collected")
    assert gradient_checks["gradcheck"] + gradient_checks["gradgradcheck"] >= 2000
