"""Tensors on a GPU, against dense torch: run by tests/gpu/run.py on a machine that has one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from gpu_tensors import GPU, raises, sparse

import tulle


def test_moves_there_and_back() -> None:
    data = sparse(50, 60)
    tensor = tulle.tensor(data, format="csr")
    there = tensor.to("cuda")
    assert there.device == GPU, there.device
    assert all(array.device == GPU for array in there.pattern.arrays)
    assert there.to("cuda") is there
    torch.testing.assert_close(there.cpu().to_dense(), data)
    assert "device='cuda:0'" in repr(there)
    coordinates, _ = there.entries()
    assert coordinates.device == GPU


def test_products() -> None:
    for dtype in (torch.float32, torch.float64):
        for width in (1, 4, 16, 33, 128):
            data = sparse(300, 200).to(dtype)
            b = torch.randn(200, width, dtype=dtype)
            for format in ("csr", "coo", "csc"):
                tensor = tulle.tensor(data, format=format).to(GPU)
                result = tensor @ b.to(GPU)
                assert result.device == GPU
                torch.testing.assert_close(result.cpu(), data @ b, rtol=1e-4, atol=1e-4)


def test_vectors() -> None:
    data = sparse(300, 200)
    x = torch.randn(200)
    tensor = tulle.tensor(data, format="csr").to(GPU)
    torch.testing.assert_close((tensor @ x.to(GPU)).cpu(), data @ x, rtol=1e-4, atol=1e-4)


def test_sums_along_the_outermost_loop() -> None:
    """Products with operands in the other storage order, sums of columns and of all entries."""
    data = sparse(3000, 2000, 0.01)
    b, c, x = torch.randn(2000, 48), torch.randn(3000, 48), torch.randn(2000)
    for format in ("csr", "csc"):
        tensor = tulle.tensor(data, format=format).to(GPU)
        for found, wanted in (
            (tensor @ b.to(GPU), data @ b),
            (tensor.T @ c.to(GPU), data.T @ c),
            (tensor @ x.to(GPU), data @ x),
            (tulle.compute("y[j] = A[i,j]", A=tensor), data.sum(0)),
            (tulle.compute("s = A[i,j]", A=tensor), data.sum()),
            (tulle.compute("s = A[i,j] * x[j]", A=tensor, x=x.to(GPU)), (data @ x).sum()),
        ):
            torch.testing.assert_close(found.cpu(), wanted, rtol=1e-3, atol=1e-2)
    dense = torch.randn(1000, 700)
    columns = tulle.compute("y[j] = X[i,j]", X=dense.to(GPU))
    torch.testing.assert_close(columns.cpu(), dense.sum(0), rtol=1e-3, atol=1e-2)


def test_sampled_products() -> None:
    data, q, k = sparse(100, 120), torch.randn(100, 24), torch.randn(120, 24)
    tensor = tulle.tensor(data, format="csr").to(GPU)
    result = tulle.compute("W[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=tensor, Q=q.to(GPU), K=k.to(GPU))
    torch.testing.assert_close(result.to_dense().cpu(), data * (q @ k.T), rtol=1e-4, atol=1e-4)


def test_long_rows() -> None:
    data = sparse(3000, 3000, 0.03)
    data[7] = torch.randn(3000)
    data[2999] = torch.randn(3000)
    a, there = tulle.tensor(data, format="csr"), data.double()
    assert a.nnz > 2**18, a.nnz
    for width in (1, 32, 100, 128, 512):
        b = torch.randn(3000, width)
        product = (a.to(GPU) @ b.to(GPU)).cpu()
        torch.testing.assert_close(product.double(), there @ b.double(), rtol=1e-4, atol=1e-3)
    q, k = torch.randn(3000, 64), torch.randn(3000, 64)
    program = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]"
    sampled = tulle.compute(program, A=a.to(GPU), Q=q.to(GPU), K=k.to(GPU)).cpu().to_dense()
    torch.testing.assert_close(sampled, data * (q @ k.T), rtol=1e-4, atol=1e-3)


def test_structure_that_begins_anywhere() -> None:
    data = sparse(40, 50)
    data[0] = 0
    data[0, : 1 + (data != 0).sum() % 2] = 1  # an odd number of entries
    assert (data != 0).sum() % 2 == 1
    b = torch.randn(50, 8)
    there = data.to(GPU)
    for given in (there.to_sparse_csr(), there.to_sparse_csc(), there.to_sparse()):
        product = (tulle.tensor(given) @ b.to(GPU)).cpu()
        torch.testing.assert_close(product, data @ b, rtol=1e-4, atol=1e-4)


def test_values_that_begin_anywhere() -> None:
    data, b = sparse(40, 50), torch.randn(50, 8, device=GPU)
    for format in ("csr", "hyb(2,1)"):
        given = tulle.tensor(data, format=format).to(GPU)
        values = given.values()
        memory = torch.empty(values.numel() + 1, device=GPU)
        memory[1:] = values
        begun = given.with_values(memory[1:])
        assert begun.values().data_ptr() % 16
        for _ in range(3):
            torch.testing.assert_close(begun @ b, given @ b)
        torch.testing.assert_close(begun.to_dense(), given.to_dense())
        memory *= 2  # the tensor still uses this memory
        torch.testing.assert_close(begun @ b, 2 * (given @ b))


def test_short_rows() -> None:
    generator = torch.Generator().manual_seed(5)
    dense = torch.rand((1500, 1500), generator=generator)
    dense *= torch.rand((1500, 1500), generator=generator) < 0.01
    lengths = (dense != 0).sum(1)
    b = torch.rand((1500, 32), generator=generator)
    known = tulle.tensor(dense, format="csr").to(GPU)
    checked = tulle.tensor(dense.to(GPU).to_sparse_csr())
    unknown = tulle.tensor(dense.to(GPU), format="csr")
    assert known.pattern.longest_row == checked.pattern.longest_row == int(lengths.max())
    assert unknown.pattern.longest_row == 0
    for tensor in (known, checked, unknown, known.T.T):
        torch.testing.assert_close((tensor @ b.to(GPU)).cpu(), dense @ b)
    assert "deal_rows" not in str(tulle.explain("ij,jk->ik", known, b.to(GPU)))
    assert "deal_rows" in str(tulle.explain("ij,jk->ik", unknown, b.to(GPU)))


def test_halves() -> None:
    """The result of float32, rounded once. Another order of sums may round a tie differently."""
    for dtype in (torch.float16, torch.bfloat16):
        tolerance = torch.finfo(dtype).eps / 2 * 1.02

        def check(found: torch.Tensor, wanted: torch.Tensor) -> None:
            assert found.dtype == dtype and found.device == GPU  # noqa: B023
            torch.testing.assert_close(found.cpu().float(), wanted, rtol=tolerance, atol=1e-4)  # noqa: B023

        for rows, density in ((300, 0.1), (3000, 0.03)):  # the larger one's rows are cut
            x = sparse(rows, rows, density)
            x[7] = torch.randn(rows)
            x = x.to(dtype)
            a = tulle.tensor(x, format="csr").to(GPU)
            for width in (1, 8, 33, 128, 512):
                b = torch.randn(rows, width).to(dtype)
                check(a @ b.to(GPU), x.float() @ b.float())
            check(a.sum(1), x.float().sum(1))
            check(a.sum(0), x.float().sum(0))
            check((a * 0.3).to_dense(), x.float() * 0.3)
            q, k = torch.randn(rows, 64).to(dtype), torch.randn(rows, 64).to(dtype)
            program = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]"
            sampled = tulle.compute(program, A=a, Q=q.to(GPU), K=k.to(GPU)).to_dense()
            check(sampled, x.float() * (q.float() @ k.float().T))
            program = "O[i,d] = softmax(j in A[i,j], A[i,j]) * Q[j,d]"
            weights = torch.sparse.softmax(x.float().to_sparse_coo(), 1).to_dense()
            check(tulle.compute(program, A=a, Q=q.to(GPU)), weights @ q.float())


def test_one_order_of_sums() -> None:
    data = sparse(3000, 3000, 0.03)
    data[7] = torch.randn(3000)
    a, b = tulle.tensor(data, format="csr").to(GPU), torch.randn(3000, 32).to(GPU)
    by_hand = tulle.kernel("C[i,k] = A[i,j] * B[j,k]").schedule(
        "split_rows(i, 64, c, r); split(c, 128, cb, ct); bind(cb, block); bind(ct, thread)"
    )
    torch.testing.assert_close(by_hand(A=a, B=b), a @ b, rtol=1e-4, atol=1e-3)
    torch.use_deterministic_algorithms(True)
    try:
        first = a @ b
        assert all(torch.equal(a @ b, first) for _ in range(20))
        raises(tulle.UserError, "by split_rows 'C' is added up", lambda: by_hand(A=a, B=b))
    finally:
        torch.use_deterministic_algorithms(False)
    torch.testing.assert_close(a @ b, first, rtol=1e-4, atol=1e-3)


def test_elementwise() -> None:
    a, b = sparse(80, 90, seed=1), sparse(80, 90, seed=2)
    first = tulle.tensor(a, format="csr").to(GPU)
    second = tulle.tensor(b, format="csr").to(GPU)
    torch.testing.assert_close((first * 2.0).to_dense().cpu(), a * 2)
    torch.testing.assert_close((first + second).to_dense().cpu(), a + b)
    torch.testing.assert_close((first * second).to_dense().cpu(), a * b)
    torch.testing.assert_close(first.sum(1).to_dense().cpu(), a.sum(1), rtol=1e-4, atol=1e-4)


def units_off(found: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """The error of a float32 against a float64, in ulp. Special values are equal."""
    rounded = exact.float()
    size = rounded.abs().clamp(min=torch.finfo(torch.float32).tiny)
    unit = torch.ldexp(torch.ones_like(exact), torch.frexp(size).exponent - 24)
    off = (found.double() - exact).abs() / unit
    special = ~(rounded.isfinite() & found.isfinite())
    same = (found == rounded) | (found.isnan() & rounded.isnan())
    return torch.where(special, torch.where(same, 0.0, torch.inf), off)


def test_exponentials() -> None:
    for name, step in (("exp", 37), ("tanh", 1999), ("erf", 1999)):
        for begin in range(-(2**31), 2**31, 2**28):
            bits = torch.arange(begin, begin + 2**28, step, device=GPU, dtype=torch.int64)
            x = bits.to(torch.int32).view(torch.float32)
            y = tulle.compute(f"y[i] = {name}(x[i])", x=x)
            off = units_off(y, getattr(torch, name)(x.double()))
            place = int(off.argmax())
            assert off[place] <= 2, (name, x[place], y[place], off[place])
    inf, nan = torch.inf, torch.nan
    special = torch.tensor([0.0, -0.0, inf, -inf, nan, 1e-45, -1e-45, 3e38, -3e38])
    expected = torch.tensor([1.0, 1.0, inf, 0.0, nan, 1.0, 1.0, inf, 0.0])
    found = tulle.compute("y[i] = exp(x[i])", x=special.to(GPU)).cpu()
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_conversions() -> None:
    data = sparse(70, 60)
    for source in ("csr", "coo", "csc"):
        tensor = tulle.tensor(data, format=source).to(GPU)
        for target in ("csr", "coo", "csc", "dense"):
            result = tensor.to(format=target)
            dense = result if isinstance(result, torch.Tensor) else result.to_dense()
            torch.testing.assert_close(dense.cpu(), data)


def test_composites() -> None:
    data, b = sparse(300, 200), torch.randn(200, 32)
    data[7] = 1  # a row that is longer than all buckets
    for format in (
        "hyb(2,3)",
        "dia-csr(-1,1)",
        "bsr-csr(4,4)",
        "{ rows(nnz<=16): ell(16); rest: csr }",
    ):
        tensor = tulle.tensor(data, format=format).to(GPU)
        assert all(part.device == GPU for part in tensor.parts())
        torch.testing.assert_close((tensor @ b.to(GPU)).cpu(), data @ b, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close((tensor * 2).to_dense().cpu(), data * 2)
        there = tulle.tensor(data, format="csr").to(GPU).to(format=format)
        assert there.device == GPU
        torch.testing.assert_close(there.to_dense().cpu(), data)


COMPOSITES = (
    "hyb(1,2)",
    "hyb(2,3)",
    "dia-csr(-2,3)",
    "bsr-csr(4,4)",
    "{ rows(nnz<=16): ell(16); columns(0,64): coo; rest: csr }",
    "columns(3){ windows(8, reuse>=1.2): csr; blocks(2,4, fill>=0.5): dbsr(2,4); rest: dcsr }",
    "(i,j) -> (j,i){ rows(nnz<=24): csr; rest: csr }",
)


def check_built_there(data: torch.Tensor, given: str, format: str, index: torch.dtype) -> None:
    here = tulle.tensor(data, format=given, index_dtype=index)
    there = here.to(GPU).to(format=format)
    here = here.to(format=format)
    assert there.device == GPU and there.format == here.format
    for part, expected in zip(there.parts(), here.parts(), strict=True):
        for array, wanted in zip(part.pattern.arrays, expected.pattern.arrays, strict=True):
            assert array.device == GPU and array.dtype == wanted.dtype
            assert torch.equal(array.cpu(), wanted), (format, part.format)
        assert torch.equal(part.to_dense().cpu(), expected.to_dense()), (format, part.format)


def test_composites_are_built_there() -> None:
    data = sparse(300, 200)
    data[7] = 1  # a row that is longer than all buckets
    data[40:52, 96:140] = 1
    for format in COMPOSITES:
        for index in (torch.int32, torch.int64):
            check_built_there(data, "csr", format, index)
        check_built_there(data.to(torch.bfloat16), "coo", format, torch.int32)
        for shape in ((0, 5), (5, 0), (1, 1)):
            check_built_there(sparse(*shape), "csr", format, torch.int32)
    batch = torch.stack([sparse(40, 30, seed=seed) for seed in range(5)])
    for format in (
        "{ rows(nnz<=2): csf; rest: csf }",
        "{ blocks(4,2, fill>=0.3): csf; windows(8, reuse>=1.1): coo; rest: csf }",
    ):
        check_built_there(batch, "csf", format, torch.int32)


def test_large_composites_are_built_there() -> None:
    rows, columns = torch.randint(20000, (2, 400000), generator=torch.Generator().manual_seed(1))
    values = torch.ones(400000)
    data = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (20000, 20000)).coalesce()
    here = tulle.tensor(data, format="csr")
    for format in ("hyb(4,5)", "bsr-csr(8,8)", "{ windows(64, reuse>=1.03): csr; rest: csr }"):
        there = here.to(GPU).to(format=format)
        for part, wanted in zip(there.parts(), here.to(format=format).parts(), strict=True):
            for one, other in zip(part.pattern.arrays, wanted.pattern.arrays, strict=True):
                assert torch.equal(one.cpu(), other), (format, part.format)


def test_decomposes_there() -> None:
    data, b = sparse(300, 200), torch.randn(200, 32)
    data[7] = 1
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]")
    for format in COMPOSITES:
        chosen = kernel.schedule(f"decompose(A, {format})")
        for given in ("csr", "coo", "csc"):
            tensor = tulle.tensor(data, format=given).to(GPU)
            for _ in range(2):
                result = chosen(A=tensor, B=b.to(GPU))
                assert result.device == GPU
                torch.testing.assert_close(result.cpu(), data @ b, rtol=1e-4, atol=1e-4)
    tensor = tulle.tensor(data, format="csr").to(GPU)
    explained = kernel.schedule("decompose(A, hyb(1,1))").explain(A=tensor, B=b.to(GPU))
    assert "C is the sum over the 3 parts of A" in explained.stages["plan"]


def test_keeps_what_is_made_of_a_structure() -> None:
    data, b = sparse(600, 500), torch.randn(500, 128)
    tensor, dense = tulle.tensor(data, format="csr").to(GPU), b.to(GPU)
    q, k = torch.randn(600, 32, device=GPU), torch.randn(500, 32, device=GPU)
    assert not any(name.startswith("pieces") for name in tensor.derived())
    for _ in range(2):
        torch.testing.assert_close((tensor @ dense).cpu(), data @ b, rtol=1e-4, atol=1e-4)
        tulle.compute("S[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=tensor, Q=q, K=k)
    kept = tensor.derived()
    assert any(name.startswith("pieces") for name in kept) and kept["rows"] > 0, kept
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        other = (2 * tensor) @ dense
    torch.cuda.current_stream().wait_stream(stream)
    torch.testing.assert_close(other.cpu(), 2 * data @ b, rtol=1e-4, atol=1e-4)
    tensor.free_derived()
    assert tensor.derived() == {}
    torch.testing.assert_close((tensor @ dense).cpu(), data @ b, rtol=1e-4, atol=1e-4)


def test_light_code_gives_the_same_bits() -> None:
    """A first call runs light code, later calls run optimised code."""
    tensor = tulle.tensor(sparse(301, 203, seed=11), format="csr").to(GPU)
    square = sparse(201, 201, seed=13)
    blocks, pairs = (tulle.tensor(square, format=name).to(GPU) for name in ("bsr(4,4)", "coo"))
    q, k, v = (torch.randn(size, 64, device=GPU) for size in (301, 203, 203))
    programs = [
        lambda: tensor @ v,
        lambda: tulle.compute("S[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=tensor, Q=q, K=k).values(),
        lambda: tulle.compute("y[i] = argmax(j in A[i,j], A[i,j])", A=tensor),
        lambda: tulle.compute(
            "S[i,j] = sum(d, Q[i,d] * K[j,d])\nO[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]",
            **{"A": tensor, "Q": q, "K": k, "V": v},
        ),
        lambda: (tensor @ tensor.T).values(),
        lambda: (tensor + tensor * tensor).values(),
        lambda: (blocks @ blocks).values(),
        lambda: (pairs @ pairs).values(),
        lambda: (blocks + pairs).values(),
    ]
    for program in programs:
        first = program().clone()
        tulle.finish_compiling()
        assert torch.equal(first, program())
    torch.testing.assert_close((blocks @ blocks).to_dense().cpu(), square @ square)


def test_out() -> None:
    data, b = sparse(300, 200), torch.randn(200, 64)
    tensor, dense = tulle.tensor(data, format="csr").to(GPU), b.to(GPU)
    out = torch.empty(300, 64, device=GPU)
    assert torch.mm(tensor, dense, out=out) is out
    torch.testing.assert_close(out.cpu(), data @ b, rtol=1e-4, atol=1e-4)
    raises(tulle.UserError, "out", lambda: torch.mm(tensor, dense, out=torch.empty(300, 64)))


def test_operands_that_are_no_neat_tensors() -> None:
    data, b = sparse(300, 200), torch.randn(200, 65)
    tensor, dense = tulle.tensor(data, format="csr").to(GPU), b.to(GPU)
    for view in (dense[:, 1:], dense.T.contiguous().T, dense.reshape(-1)[1:12801].reshape(200, 64)):
        torch.testing.assert_close((tensor @ view).cpu(), data @ view.cpu(), rtol=1e-4, atol=1e-4)


def test_two_devices_are_refused() -> None:
    tensor = tulle.tensor(sparse(30, 20), format="csr")
    b = torch.randn(20, 4)
    for a, other in ((tensor.to(GPU), b), (tensor, b.to(GPU))):
        for _ in range(2):
            raises(tulle.UserError, "on two devices", lambda a=a, other=other: a @ other)
            a @ other.to(a.device)


def test_a_schedule_by_hand() -> None:
    example = Path(__file__).parents[2] / "examples/schedule.py"
    command = [sys.executable, str(example), "--size", "2000"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "cuda: planned" in text and "refused: " in text, text


def test_searches() -> None:
    data, b = sparse(3000, 2000), torch.randn(2000, 64)
    tensor, dense = tulle.tensor(data, format="csr").to(GPU), b.to(GPU)
    space = tulle.Space.default("ij,jk->ik", tensor, dense).formats({0: ["hyb(1,3)"]})
    found = tulle.tune("ij,jk->ik", tensor, dense, space=space, seconds=3.0)
    print(found)
    wrong = [one for one in found.measured if "something else" in one.refused]
    assert not wrong, wrong
    assert sum(not one.refused for one in found.measured) >= 3, found  # also on a slow host
    assert found.speedup >= 1
    for a in (tensor, tensor.to(format="hyb(1,3)")):
        torch.testing.assert_close((a @ dense).cpu(), data @ b, rtol=1e-4, atol=1e-4)
    # A program that reads back the size of a sparse result cannot be captured.
    square = tulle.tensor(sparse(500, 500), format="csr").to(GPU)
    total = tulle.tune("S[i,j] = A[i,j] + B[i,j]", A=square, B=2 * square, seconds=1.0)
    assert total.default.seconds > 0
