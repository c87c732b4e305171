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


def _in_child(queue: multiprocessing.SimpleQueue[str]) -> None:
    try:
        a, b = random_sparse(3000, 400, density=0.05), random_dense(400, 33)
        assert_equal(tulle.tensor(a) @ b, a @ b)
        assert_equal(
            tulle.compute("C[i] = A[i,j] * B[j,k] * 3", A=tulle.tensor(a), B=b), 3 * (a @ b).sum(1)
        )
        queue.put("right")
    except Exception as error:
        queue.put(repr(error))


def test_forked_processes() -> None:
    torch.set_num_threads(2)
    a, b = random_sparse(3000, 400, density=0.05), random_dense(400, 33)
    assert_equal(tulle.tensor(a) @ b, a @ b)
    stop = threading.Event()

    def compile_on() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            tulle.compute(f"C[i] = A[i,j] * {n}", A=tulle.tensor(torch.eye(3)))

    worker = threading.Thread(target=compile_on)
    worker.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(5):
            queue: multiprocessing.SimpleQueue[str] = context.SimpleQueue()
            child = context.Process(target=_in_child, args=(queue,))
            child.start()
            child.join(60)
            assert child.exitcode == 0, "the child hangs or died"
            assert queue.get() == "right"
    finally:
        stop.set()
        worker.join()
