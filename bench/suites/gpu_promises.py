"""Code that the GPU suites share: rows with the best variant of each peer, and promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gpu import operands, timing
from harness import Call, Options, Row, Timing, Verdict, ratios

TIE = 0.95  # the ratio of a library from which the case is a tie
BESIDE_ALLOWED = 1.15  # Tulle's time over the time of a --beside contender
LIBRARIES = ("torch", "cusparse", "torch steps")


def row(case: str, times: Mapping[str, Timing]) -> Row:
    """A row with the best of the variants 'peer/variant' of each peer."""
    best: dict[str, tuple[Timing, str]] = {}
    for name, found in times.items():
        peer, _, variant = name.partition("/")
        if peer not in best or found.median < best[peer][0].median:
            best[peer] = (found, variant)
    remark = ", ".join(f"{peer}: {variant}" for peer, (_, variant) in best.items() if variant)
    return Row(case, None, {peer: found for peer, (found, _) in best.items()}, remark=remark)


Calls = Callable[[operands.Graph, int, Options], dict[str, Call]]


def rows(options: Options, letter: str, calls: Calls) -> Iterator[Row]:
    """A row for each graph and width that fit into the GPU's memory; `letter` names the width."""
    for name in options.matrices:
        graph = operands.graph(name)
        for width in options.widths:
            if graph.fits(width, 3):
                times = timing.measure(calls(graph, width, options))
                yield row(f"{name:15s} {letter}={width}", times)
            else:
                print(f"{name} {letter}={width}: does not fit into memory")


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises ties with libraries at worst, and times near those of the --beside contenders."""
    verdicts = []
    peers = dict.fromkeys(name for found in rows for name in found.times if name != "tulle")
    for peer in peers:
        found = ratios(rows, peer)
        least = TIE if peer in LIBRARIES else 1 / BESIDE_ALLOWED
        behind = sum(ratio < least for ratio in found)
        promise = f"Tulle's time over {peer}'s: at most {1 / least:.2f} in any cell"
        if found:
            text = f"worst {1 / min(found):.2f}, {behind} of {len(found)} cells too slow"
            verdicts.append(Verdict(promise, text, behind == 0))
    return verdicts
