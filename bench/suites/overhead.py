"""The overhead of a warm call: computations so small that the call takes most of the time. The last
rows record the call for autograd, and run its backward pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

import graphs
import numpy as np
import peers
import torch
from harness import Call, Options, Row, Timing, Verdict, check
from harness import measure as time_calls

TITLE = "Warm calls on a 64 x 64 CSR matrix of density 0.05, N = 16, float32, one thread"
COMPARE = True
PRODUCT = "A @ B"
RECORDED = "A @ B, recorded"
BACKWARD = "A @ B, forward and backward"
PEER = "torch.sparse"
# Tulle's time over torch.sparse's.
ALLOWED = {PRODUCT: 0.55, BACKWARD: 0.35}
ALLOWED_ELSEWHERE = 1.0
CALLS = 100  # in one timed run
RUNS = 300  # of the product
FEW_RUNS = 60  # of the other operations


def _many(call: Call) -> Call:
    def repeat() -> None:
        for _ in range(CALLS):
            call()

    return repeat


def _one_of_many(timing: Timing) -> Timing:
    return Timing(timing.median / CALLS, timing.low / CALLS, timing.high / CALLS, timing.runs)


def _timed(case: str, calls: Mapping[str, Call], runs: int, *, records: bool = False) -> Row:
    with torch.set_grad_enabled(records):
        times = time_calls({name: _many(call) for name, call in calls.items()}, 10.0, runs=runs)
    return Row(case, 1, {name: _one_of_many(timing) for name, timing in times.items()})


def _operations(product: peers.Product, tulle: ModuleType) -> dict[str, tuple[Call, Call]]:
    """Each operation in Tulle and in torch.sparse."""
    t, b = product.torch_csr, product.b
    a = tulle.tensor(t, format="csr")
    coo, full = t.to_sparse_coo().coalesce(), torch.rand(64, 64)
    q, k = torch.rand(64, 16), torch.rand(64, 16)
    text = "C[i,k] = A[i,j] * B[j,k]"
    kernel = tulle.kernel(text, A="csr", B="dense")
    sddmm = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]"
    compute, einsum = tulle.compute, tulle.einsum

    def by_torch() -> torch.Tensor:
        return torch.sparse.mm(t, b)

    return {
        "torch.mm(A, B)": (lambda: torch.mm(a, b), by_torch),
        "einsum": (lambda: einsum("ij,jk->ik", a, b), by_torch),
        "compute": (lambda: compute(text, A=a, B=b), by_torch),
        "kernel": (lambda: kernel(A=a, B=b), by_torch),
        "A.T @ B": (lambda: a.T @ b, lambda: torch.sparse.mm(t.t(), b)),
        "A @ A": (lambda: a @ a, lambda: t @ t),
        "A + A": (lambda: a + a, lambda: t + t),
        "A * 2": (lambda: a * 2, lambda: t * 2),
        "A * X": (lambda: a * full, lambda: t * full),
        "relu": (lambda: torch.relu(a), lambda: torch.relu(t)),
        "row sum": (lambda: a.sum(1), lambda: torch.sum(t, 1, keepdim=True)),
        "softmax": (lambda: a.softmax(1), lambda: torch.sparse.softmax(coo, 1)),
        "SDDMM": (
            lambda: compute(sddmm, A=a, Q=q, K=k),
            lambda: torch.sparse.sampled_addmm(t, q, k.T, beta=0.0),
        ),
    }


def _recorded(product: peers.Product, tulle: ModuleType) -> dict[str, dict[str, Call]]:
    """The product for values and a dense operand that require gradients."""
    t = product.torch_csr.detach().clone().requires_grad_()
    a = tulle.tensor(product.torch_csr, format="csr", copy=True).requires_grad_()
    ours, theirs = (product.b.clone().requires_grad_() for _ in range(2))
    arriving = torch.ones(64, 16)

    def forget() -> None:
        a.grad = t.grad = ours.grad = theirs.grad = None

    def backward() -> None:
        forget()
        (a @ ours).backward(arriving)

    def backward_by_torch() -> None:
        forget()
        torch.sparse.mm(t, theirs).backward(arriving)

    backward()
    found = a.grad, ours.grad
    backward_by_torch()
    check("gradient of A", _dense(found[0]), _dense(t.grad.values()))
    check("gradient of B", _dense(found[1]), _dense(theirs.grad))
    return {
        RECORDED: {"tulle": lambda: a @ ours, PEER: lambda: torch.sparse.mm(t, theirs)},
        BACKWARD: {"tulle": backward, PEER: backward_by_torch},
    }


def _dense(result: object) -> np.ndarray:
    """The result of any contender as an array."""
    found = result.to_dense() if hasattr(result, "to_dense") else result
    return np.asarray(found).squeeze()


def measure(options: Options) -> Iterator[Row]:
    """One row for each operation."""
    torch.set_num_threads(1)
    product = peers.Product.of(graphs.pruned(64, 64, 0.95), 16)
    calls = peers.tulle_calls(product, product.result(), options.tulle)
    calls[PEER] = lambda: torch.sparse.mm(product.torch_csr, product.b)
    calls["torch A @ B"] = lambda: product.torch_csr @ product.b
    calls["scipy"] = peers.scipy_call(product)
    for contender, call in calls.items():
        check(contender, call(), peers.reference(product))
    yield _timed(PRODUCT, calls, RUNS)
    if options.tulle is None:
        return
    for name, (ours, theirs) in _operations(product, options.tulle).items():
        if name != "SDDMM":  # torch multiplies by the pattern of A, not by its values
            check(name, _dense(ours()), _dense(theirs()))
        yield _timed(name, {"tulle": ours, PEER: theirs}, FEW_RUNS)
    for name, recorded in _recorded(product, options.tulle).items():
        yield _timed(name, recorded, FEW_RUNS, records=True)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises a share of the host time of torch.sparse for each operation."""
    verdicts = []
    for row in rows:
        allowed = ALLOWED.get(row.case, ALLOWED_ELSEWHERE)
        promise = f"{row.case}: at most {allowed} of the time of {PEER}"
        ratio = row.ratio(PEER)
        if ratio is None:
            verdicts.append(Verdict(promise, "not measured", None))
        else:
            verdicts.append(Verdict(promise, f"{1 / ratio:.3f}", 1 / ratio <= allowed))
    return verdicts
