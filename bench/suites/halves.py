"""CSR times dense in float16 and bfloat16: Tulle, torch, and Tulle in float32."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import graphs
import torch
from harness import Call, Options, Row, Verdict, check, geometric_mean, ratios
from harness import measure as time_calls

TITLE = "CSR x dense (SpMM), float16 and bfloat16"
COMPARE = True
HALVES = (torch.float16, torch.bfloat16)
WIDE_ALLOWED = 1.15  # a half's time over that of float32, geometric mean
SECONDS_PER_CELL = 2.0


def _calls(
    structure: graphs.Structure, width: int, dtype: torch.dtype, options: Options
) -> dict[str, Call]:
    pos, crd = (torch.from_numpy(array) for array in (structure.pos, structure.crd))
    generator = torch.Generator().manual_seed(0)
    values = torch.rand(structure.nnz, generator=generator)
    wide = torch.sparse_csr_tensor(pos, crd, values, structure.shape)
    wide_b = torch.rand(structure.shape[1], width, generator=generator)
    theirs, b = wide.to(dtype), wide_b.to(dtype)
    into, wide_into = (torch.empty(structure.shape[0], width, dtype=x.dtype) for x in (b, wide_b))
    calls: dict[str, Call] = {}
    if options.tulle:
        ours, ours_wide = options.tulle.tensor(theirs), options.tulle.tensor(wide)
        calls["tulle"] = lambda: torch.mm(ours, b, out=into)
        calls["float32"] = lambda: torch.mm(ours_wide, wide_b, out=wide_into)
    calls["torch"] = lambda: theirs @ b
    wanted = theirs.float() @ b.float()
    for name in [name for name in calls if name != "float32"]:
        try:
            found = calls[name]()
        except RuntimeError as missing:
            print(f"without {name}: {str(missing).splitlines()[0]}")
            del calls[name]
            continue
        check(f"{name}, N = {width}, {dtype}", found.float(), wanted, torch.finfo(dtype).eps)
    return calls


def measure(options: Options) -> Iterator[Row]:
    """A row for each number of threads, matrix, width and type."""
    for threads in options.threads:
        torch.set_num_threads(threads)
        for name in options.matrices:
            structure = graphs.matrix(name)
            for width in options.widths:
                for dtype in HALVES:
                    times = time_calls(_calls(structure, width, dtype, options), SECONDS_PER_CELL)
                    kind = str(dtype).removeprefix("torch.")
                    notes = {"matrix": name, "width": width, "nnz": structure.nnz, "type": kind}
                    yield Row(f"{name:10s} N={width} {kind}", threads, times, notes)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises a time near float32's: half of the memory traffic, but conversions."""
    found = [1 / ratio for ratio in ratios(rows, "float32")]
    promise = f"a half's time over float32's: at most {WIDE_ALLOWED} in the geometric mean"
    if not found:
        return [Verdict(promise, "not measured", None)]
    mean = geometric_mean(found)
    return [Verdict(promise, f"mean {mean:.2f}, worst {max(found):.2f}", mean <= WIDE_ALLOWED)]
