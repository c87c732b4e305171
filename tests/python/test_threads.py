"""Many threads at once, forks, and PyTorch's number of threads."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse

import tulle


@pytest.fixture(autouse=True)
def keep_thread_count() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_one_new_program_from_many_threads() -> None:
    a, b = random_sparse(30, 40), random_dense(40, 8)
    tensor = tulle.tensor(a)
    start = threading.Barrier(8)

    def work(n: int) -> torch.Tensor:
        start.wait()
        result: torch.Tensor = tulle.compute("Z[i,k] = A[i,j] * B[j,k] * 7", A=tensor, B=b)
        return result

    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(work, range(8)):
            assert_equal(result, a @ b * 7)


def test_many_programs_from_many_threads() -> None:
    a = random_sparse(30, 40)
    formats = ["csr", "csc", "coo", "dcsr"]
    tensors = {format: tulle.tensor(a, format=format) for format in formats}

    def work(n: int) -> None:
        for step in range(40):
            width = (n * 7 + step) % 20 + 1
            b = random_dense(40, width, seed=n)
            assert_equal(tensors[formats[(n + step) % 4]] @ b, a @ b)
            assert_equal(tensors["csr"] * n, a * n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_thread_counts(threads: int) -> None:
    torch.set_num_threads(threads)
    a, b = random_sparse(3000, 400, density=0.05), random_dense(400, 33)
    tensor = tulle.tensor(a)
    assert_equal(tensor @ b, a @ b)
    assert_equal(tensor.T @ tensor, a.T @ a)


@pytest.mark.parametrize("columns", [1, 16, 1100])  # 1100 is not known to the code
@pytest.mark.parametrize("threads", [1, 4])
def test_rows_in_chunks_of_equal_work(columns: int, threads: int) -> None:
    torch.set_num_threads(threads)
    lengths = torch.tensor([0, 3, 0, 40_000, 1, 0, 2, 30_000, 0])  # two long rows
    pos = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    crd = torch.cat([torch.arange(int(length)) for length in lengths])
    a = tulle.from_levels("csr", (9, 40_000), [{}, {"pos": pos, "crd": crd}], torch.rand(len(crd)))
    b = torch.rand(40_000, columns)
    kernel = tulle.kernel("C[i,k] = A[i,j] * B[j,k]", A="csr", B="dense").schedule(
        "reorder(i, j, k); precompute(acc, k); parallel(i, by=merge)"
    )
    c = kernel(A=a, B=b)
    torch.testing.assert_close(c, a.to_dense() @ b, rtol=1e-3, atol=1e-2)
    assert torch.equal(c, kernel(A=a, B=b))  # pieces are combined in a fixed order


def test_forked_processes() -> None:
    # torch computes everything before the fork, which its threads do not survive.
    torch.set_num_threads(2)
    a, b = random_sparse(3000, 400, density=0.05), random_dense(400, 33)
    tensor, product = tulle.tensor(a), a @ b
    assert_equal(tensor @ b, product)
    small, ones = tulle.tensor(torch.eye(3)), torch.ones(3)
    stop = threading.Event()

    def compile_on() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            tulle.compute(f"c[i] = A[i,j] * x[j] * {n}", A=small, x=ones)

    def in_child() -> None:
        warm = tensor @ b
        new = tulle.compute("Q[i,k] = A[i,j] * B[j,k] * 3", A=tensor, B=b)
        sparse = tulle.compute("S[i,j] = A[i,j] * 3", A=tensor)
        assert (warm.numpy() == product.numpy()).all()
        assert (new.numpy() == 3 * product.numpy()).all()
        assert (sparse.values().numpy() == 3 * tensor.values().numpy()).all()

    worker = threading.Thread(target=compile_on)
    worker.start()
    try:
        context = multiprocessing.get_context("fork")
        children = [context.Process(target=in_child) for _ in range(5)]
        for child in children:
            child.start()
            child.join(60)
            hangs = child.exitcode is None
            child.kill()
            assert not hangs, "the child hangs"
            assert child.exitcode == 0
    finally:
        stop.set()
        worker.join()


@pytest.mark.parametrize("cut", ["split_rows(i, 64, c, r)", "deal_rows(i, 64, c, r, 4, 2)"])
def test_threads_add_up_in_one_order(cut: str) -> None:
    draw = torch.Generator().manual_seed(3)
    dense = torch.rand((5, 20000), generator=draw) * (torch.rand((5, 20000), generator=draw) < 0.3)
    b = torch.randn((20000, 4), generator=draw)
    a, program = tulle.tensor(dense, format="csr"), tulle.kernel("C[i,k] = A[i,j] * B[j,k]")
    with pytest.raises(tulle.UserError, match=r"a CPU gives the same bits; use parallel.*by=merge"):
        program.schedule(f"{cut}; parallel(c)")(A=a, B=b)
    serial = program.schedule(cut)
    merged = program.schedule("precompute(acc, k); parallel(i, by=merge)")
    for schedule in (serial, merged):
        found = {schedule(A=a, B=b).numpy().tobytes() for _ in range(50)}
        assert len(found) == 1
        torch.testing.assert_close(schedule(A=a, B=b), dense @ b, rtol=1e-3, atol=1e-3)
