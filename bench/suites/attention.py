"""Graph attention with one head, float32: Tulle in one pass over the rows, torch in steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import graphs
import torch
from harness import Call, Options, Row, Verdict, check, ratios
from harness import measure as time_calls

TITLE = "Graph attention, one head of width 64, float32"
COMPARE = True
WIDTH = 64
SCALE = 0.125
SECONDS_PER_CELL = 4.0
GRAPHS = ("cora", "pubmed", "ppi", "arxiv")
PROGRAM = """
    S[i,j] = sum(k, Q[i,k] * K[j,k]) * s
    O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]"""


def _by_steps(
    pattern: torch.Tensor, rows: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> torch.Tensor:
    """Scores at the entries, their softmax along the rows, and a product, all in CSR."""
    sampled = torch.sparse.sampled_addmm(pattern, q, k.T, beta=0.0, alpha=SCALE)
    scores = sampled.values()
    nodes = pattern.shape[0]
    largest = torch.full((nodes,), -torch.inf).scatter_reduce_(0, rows, scores, "amax")
    powers = torch.exp(scores - largest[rows])
    sums = torch.zeros(nodes).index_add_(0, rows, powers)
    weights = torch.sparse_csr_tensor(
        pattern.crow_indices(), pattern.col_indices(), powers / sums[rows], pattern.shape
    )
    return torch.mm(weights, v)


def _calls(structure: graphs.Structure, options: Options) -> dict[str, Call]:
    pos, crd = (torch.from_numpy(array) for array in (structure.pos, structure.crd))
    pattern = torch.sparse_csr_tensor(pos, crd, torch.ones(structure.nnz), structure.shape)
    rows = torch.repeat_interleave(torch.arange(structure.shape[0]), pos.diff().long())
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(n, WIDTH, generator=generator) for n in (*structure.shape, pos.numel()))
    v = v[: structure.shape[1]].contiguous()
    calls: dict[str, Call] = {}
    if options.tulle:
        compute, ours = options.tulle.compute, options.tulle.tensor(pattern)
        calls["tulle"] = lambda: compute(PROGRAM, A=ours, Q=q, K=k, V=v, s=SCALE)
    calls["torch steps"] = lambda: _by_steps(pattern, rows, q, k, v)
    return calls


def measure(options: Options) -> Iterator[Row]:
    """A row for each number of threads and graph."""
    for threads in options.threads:
        torch.set_num_threads(threads)
        for name in [name for name in options.matrices if name in GRAPHS]:
            structure = graphs.matrix(name)
            calls = _calls(structure, options)
            wanted = calls["torch steps"]()
            for contender, call in calls.items():
                check(f"{contender} on {name}", call(), wanted)
            times = time_calls(calls, SECONDS_PER_CELL)
            notes = {"matrix": name, "width": WIDTH, "nnz": structure.nnz}
            yield Row(f"{name:10s} d={WIDTH}", threads, times, notes)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises never to be slower than the steps."""
    promise = "graph attention is not slower than torch's steps"
    found = ratios(rows, "torch steps")
    if not found:
        return [Verdict(promise, "not measured", None)]
    return [Verdict(promise, f"{min(found):.2f}x at least", min(found) >= 1)]
