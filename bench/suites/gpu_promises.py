"""What the suites for a GPU share: rows with the best variant of each peer, and promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import Row, Timing, Verdict, ratios

TIE = 0.95  # a library may be this far ahead: a tie
BESIDE_ALLOWED = 1.15  # Tulle's time over that of a kernel laid beside
LIBRARIES = ("torch", "cusparse", "torch steps")


def row(case: str, times: Mapping[str, Timing]) -> Row:
    """A row in which the variants 'peer/variant' of a peer have become the best of them."""
    best: dict[str, tuple[Timing, str]] = {}
    for name, timing in times.items():
        peer, _, variant = name.partition("/")
        if peer not in best or timing.median < best[peer][0].median:
            best[peer] = (timing, variant)
    remark = ", ".join(f"{peer}: {variant}" for peer, (_, variant) in best.items() if variant)
    return Row(case, None, {peer: timing for peer, (timing, _) in best.items()}, remark=remark)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Never behind a library by more than a tie; near what was laid beside."""
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
