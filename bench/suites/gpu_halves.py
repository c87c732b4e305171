"""CSR times dense on a GPU in float16 and bfloat16: Tulle, torch, and Tulle in float32."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from gpu import operands, timing
from harness import Call, Options, Row, Verdict

from suites import gpu_promises

TITLE = "CSR x dense (SpMM) on a GPU, float16 and bfloat16"
COMPARE = True
HALVES = (torch.float16, torch.bfloat16)


def _calls(
    graph: operands.Graph, width: int, dtype: torch.dtype, options: Options
) -> dict[str, Call]:
    b = graph.dense(width).to(dtype)
    into = torch.empty(graph.nodes, width, device="cuda", dtype=dtype)
    theirs = graph.torch_csr.to(dtype)
    wide, wide_into = b.float(), into.float()
    calls: dict[str, Call] = {}
    if options.tulle:
        ours, ours_wide = options.tulle.tensor(theirs), graph.tulle(options.tulle)
        calls["tulle"] = lambda: torch.mm(ours, b, out=into)
        calls["float32"] = lambda: torch.mm(ours_wide, wide, out=wide_into)
    calls["torch"] = lambda: torch.addmm(into, theirs, b, beta=0, out=into)
    wanted = torch.mm(theirs.float(), wide)
    for name in [name for name in calls if name != "float32"]:
        into.fill_(torch.nan)
        calls[name]()
        size = float(wanted.abs().max())
        torch.testing.assert_close(
            into.float(),
            wanted,
            rtol=torch.finfo(dtype).eps,
            atol=(1e-2 if name == "tulle" else 5e-2) * size,  # torch sums in half precision
            msg=lambda text, name=name: f"{graph.name} N={width} {dtype} {name}: {text}",
        )
    return calls


def measure(options: Options) -> Iterator[Row]:
    """A row for each graph, width and type that fit into the GPU's memory."""
    for name in options.matrices:
        graph = operands.graph(name)
        for width in [width for width in options.widths if graph.fits(width, 6)]:
            for dtype in HALVES:
                times = timing.measure(_calls(graph, width, dtype, options))
                kind = str(dtype).removeprefix("torch.")
                yield gpu_promises.row(f"{name:15s} N={width} {kind}", times)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return gpu_promises.judge(rows)
