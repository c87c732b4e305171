"""A graph convolutional network on a graph of ogbn-arxiv's size: torch.sparse against Tulle.

Two layers, H = relu(N X W) and Y = N H V, over the normalised adjacency matrix N of a synthetic
graph with a power law. Both libraries compute the same network; the table shows their times.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import torch
from torch import Tensor

import tulle

NODES, EDGES = 169_343, 1_166_243
FEATURES, CLASSES = 128, 40
HIDDEN = [16, 256]


def power_law_graph(nodes: int, edges: int) -> Tensor:
    """The ends of random edges, [2, edges]. A few nodes have many edges, most have a few."""
    weights = torch.arange(1, nodes + 1, dtype=torch.float64).pow(-0.6)
    ends = torch.multinomial(weights, 2 * edges, replacement=True).view(2, edges)
    return torch.randperm(nodes)[ends]


def normalised_adjacency(edges: Tensor, nodes: int) -> tulle.SparseTensor:
    """D^-1/2 (A + I) D^-1/2, as CSR."""
    loops = torch.arange(nodes).expand(2, nodes)
    indices = torch.cat([edges, loops], dim=1)
    ones = torch.ones(indices.shape[1])
    shape = (nodes, nodes)
    coo = torch.sparse_coo_tensor(indices, ones, shape, check_invariants=False)
    adjacency = tulle.tensor(coo, format="csr")  # sorts, and sums duplicates
    scale = adjacency.sum(1).pow(-0.5)
    scaled: tulle.SparseTensor = tulle.compute(
        "N[i,j] = s[i] * A[i,j] * s[j]", A=adjacency, s=scale
    )
    return scaled


def network(adjacency: Tensor | tulle.SparseTensor, x: Tensor, weights: list[Tensor]) -> Tensor:
    """The network. The code is the same for the matrices of both libraries."""
    hidden = torch.relu(adjacency @ (x @ weights[0]))
    result: Tensor = adjacency @ (hidden @ weights[1])
    return result


def milliseconds(call: Callable[[], object], seconds: float) -> float:
    """The median time of as many runs as fit into the time, and of at least three."""
    call()
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--seconds", type=float, default=3.0, help="time to measure each figure")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
    torch.manual_seed(0)

    start = time.perf_counter()
    adjacency = normalised_adjacency(power_law_graph(options.nodes, options.edges), options.nodes)
    in_torch = adjacency.to_torch()
    print(
        f"Graph: {options.nodes:,} nodes, {adjacency.nnz:,} entries in the normalised adjacency "
        f"matrix (made in {time.perf_counter() - start:.1f} s). float32, "
        f"{torch.get_num_threads()} threads."
    )
    x = torch.randn(options.nodes, FEATURES)

    print(
        f"Inference by a graph network of two layers: {FEATURES} features, {CLASSES} classes; the "
        "table has the number of hidden units.\nMedian time of a run with the matrix in torch's "
        "sparse CSR and in Tulle's, and the largest difference of the results:"
    )
    print("\n hidden   torch.sparse     Tulle    speed-up   largest difference")
    with torch.no_grad():
        for hidden in HIDDEN:
            weights = [
                torch.randn(FEATURES, hidden) / FEATURES**0.5,
                torch.randn(hidden, CLASSES) / hidden**0.5,
            ]
            expected = network(in_torch, x, weights)
            found = network(adjacency, x, weights)
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
            theirs = milliseconds(lambda w=weights: network(in_torch, x, w), options.seconds)  # type: ignore[misc]
            ours = milliseconds(lambda w=weights: network(adjacency, x, w), options.seconds)  # type: ignore[misc]
            difference = (found - expected).abs().max().item()
            print(
                f"{hidden:7} {theirs:11.1f} ms {ours:6.1f} ms {theirs / ours:9.2f} x"
                f" {difference:18.1e}"
            )


if __name__ == "__main__":
    main()
