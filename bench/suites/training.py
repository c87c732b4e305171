"""Full-batch training of graph networks and of a pruned perceptron at ogbn-arxiv's size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import Options, Row, Verdict

from suites import _training

TITLE = "One training step: 3 layers, hidden 128, Adam, 169,343 nodes, 128 features, float32"
COMPARE = True
PROMISED = {
    "GCN": 2.0,
    "GraphSAGE mean": 2.0,
    "GraphSAGE max": 2.0,
    "GAT, 1 head": 3.0,
    "GAT, 8 heads": 3.0,
}


def measure(options: Options) -> Iterator[Row]:
    """A row for each network."""
    return _training.measure(options, "cpu")


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return _training.judge(rows, PROMISED, ["torch.sparse"])
