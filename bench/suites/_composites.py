"""Composite formats times dense against CSR times dense: the cost of a conversion, and the calls
after which it pays. `hyb` and `gpu_hyb` add how to measure on their device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from harness import SUBJECT, Call, Options, Row, Timing, Verdict
from harness import measure as time_calls

FORMATS = ("hyb(1,2)", "hyb(1,3)", "hyb(1,5)", "hyb(2,3)")
PRODUCT = "ij,jk->ik"
SECONDS_OF_CONVERSIONS = 2.0


@dataclass(frozen=True)
class Device:
    """How results are timed and compared on a device."""

    synchronise: Call
    measure: Callable[[Mapping[str, Call]], dict[str, Timing]]
    check: Callable[[str, torch.Tensor, torch.Tensor], None]


class Contest:
    """A CSR matrix for torch and in all formats, and the times of the conversions."""

    def __init__(self, options: Options, device: Device, name: str, csr: torch.Tensor) -> None:
        assert options.tulle
        self.tulle, self.seconds = options.tulle, options.tune
        self.device, self.name, self.csr = device, name, csr
        own = options.tulle.tensor(csr)
        formats = options.formats or FORMATS
        self.operands = {SUBJECT: own, **{name: own.to(format=name) for name in formats}}

        def convert(name: str) -> None:
            own.to(format=name)
            device.synchronise()

        calls = {name: lambda name=name: convert(name) for name in formats}
        times = time_calls(calls, SECONDS_OF_CONVERSIONS)
        self.costs = {name: timing.median for name, timing in times.items()}

    def row(self, b: torch.Tensor, threads: int | None) -> Row:
        """All formats side by side; with `options.tune` after a search for the schedules of
        each."""
        case = f"{self.name:10s} N={b.shape[1]}"
        wanted = torch.mm(self.csr, b)
        into = torch.empty_like(wanted)
        calls = {
            key: lambda operand=operand: torch.mm(operand, b, out=into)
            for key, operand in self.operands.items()
        }
        for key, call in calls.items():
            self._tune(self.operands[key], b)
            into.fill_(torch.nan)
            call()
            self.device.check(f"{case} {key}", into, wanted)
        return self._judged(case, threads, self.device.measure(calls))

    def _tune(self, operand: Any, b: torch.Tensor) -> None:
        if not self.seconds:
            return
        space = self.tulle.Space.default(PRODUCT, operand, b).formats({0: []})
        self.tulle.tune(PRODUCT, operand, b, space=space, seconds=self.seconds, progress=False)

    def _judged(self, case: str, threads: int | None, times: dict[str, Timing]) -> Row:
        """A row with a remark on the best composite format."""
        best = min(self.costs, key=lambda name: times[name].median)
        gain = times[SUBJECT].median - times[best].median
        cost = self.costs[best]
        pays = f"pays after {cost / gain:.0f} calls" if gain > 0 else "never pays"
        remark = f"{best} converted in {1e3 * cost:.2f} ms, {pays}"
        notes = {"best": best, "gain": gain, "conversion": self.costs, "tuned": self.seconds}
        return Row(case, threads, times, notes, remark)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Reports which formats are faster; there is no promise."""
    faster = [row.case.strip() for row in rows if float(str(row.notes["gain"])) > 0]
    found = f"in {len(faster)} of {len(rows)} cases" + (f": {', '.join(faster)}" if faster else "")
    return [Verdict("a composite format beats CSR (for information)", found, None)]
