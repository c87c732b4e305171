"""Full-batch training of graph networks and of a pruned perceptron on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import Options, Row, Verdict

from suites import _training

TITLE = "One training step on a GPU: 3 layers, hidden 128, Adam, 169,343 nodes, 128 features"
COMPARE = True
PROMISED = {
    "GCN": 1.5,
    "GraphSAGE mean": 1.5,
    "GraphSAGE max": 1.5,
    "GAT, 1 head": 2.0,
    "GAT, 8 heads": 2.0,
}


def measure(options: Options) -> Iterator[Row]:
    """A row for each network."""
    return _training.measure(options, "cuda")


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return _training.judge(rows, PROMISED, ["torch.sparse", "torch-geometric"])
