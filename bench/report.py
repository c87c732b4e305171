"""The printed report of a run: tables, geometric means, the cases that Tulle loses, promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import Row, Verdict, geometric_mean, is_subject, ratios

TIE = 0.97  # a peer that is less than 3% ahead is a tie, because runs differ by as much
LONGEST_LIST = 40


def threads_of(row: Row) -> str:
    """The number of threads in words; empty for a case without threads."""
    if row.threads is None:
        return ""
    return "1 thread" if row.threads == 1 else f"{row.threads} threads"


def _milliseconds(seconds: float) -> str:
    ms = 1e3 * seconds
    return f"{ms:.4f}" if ms < 1 else f"{ms:.3f}" if ms < 100 else f"{ms:.1f}"


class Table:
    """The table of one suite. Each row is printed as soon as it is measured."""

    def __init__(self, title: str, compare: bool = True) -> None:
        self._title = title
        self._compare = compare
        self._columns: list[str] = []

    def add(self, row: Row) -> None:
        if not self._columns:
            self._start(row)
        threads = "" if row.threads is None else f"{row.threads}"
        cells = [self._cell(row, name) for name in self._columns]
        line = f"{threads:>7s}  {row.case:28s}" + "".join(cells)
        print(f"{line}   {row.remark}".rstrip(), flush=True)

    def add_means(self, rows: Sequence[Row]) -> None:
        """Prints a line for each number of threads with more than one row."""
        for threads in sorted({row.threads or 0 for row in rows}):
            same = [row for row in rows if (row.threads or 0) == threads]
            if self._compare and len(same) > 1:
                line = f"{threads:>7d}  {'geometric mean':28s}"
                for name in self._columns:
                    found = ratios(same, name)
                    mean = f"{geometric_mean(found):.2f}" if found else ""
                    line += f"{mean:>{self._width(name)}s}"
                print(line)

    def _start(self, row: Row) -> None:
        own = [name for name in row.times if is_subject(name)] or list(row.times)[:1]
        self._columns = [*own, *(name for name in row.times if name not in own)]
        print(f"\n{self._title}")
        if self._compare:
            print(f"{', '.join(own)} in ms; the others: their time / {own[0].split()[0]}'s")
            for base in own[1:]:
                print(f"  with {base}: {', '.join(n for n in row.times if row.base(n) == base)}")
        else:
            print("milliseconds")
        names = "".join(f"{name:>{self._width(name)}s}" for name in self._columns)
        print(f"{'threads':>7s}  {'case':28s}{names}")

    def _cell(self, row: Row, name: str) -> str:
        width = self._width(name)
        if name not in row.times:
            return f"{'-':>{width}s}"
        ratio = row.ratio(name)
        if not self._compare or ratio is None:
            return f"{_milliseconds(row.times[name].median):>{width}s}"
        return f"{ratio:>{width}.2f}"

    @staticmethod
    def _width(name: str) -> int:
        return max(len(name), 8) + 2


def losses(rows: Sequence[Row]) -> Iterator[tuple[float, str]]:
    """The cases in which peers are ahead of Tulle: the least ratio, and a text with all of them."""
    for row in rows:
        ahead = sorted((r, p) for p in row.times if (r := row.ratio(p)) is not None and r < TIE)
        if ahead:
            peers = ", ".join(f"{peer} {ratio:.2f}" for ratio, peer in ahead)
            where = ", ".join(filter(None, (" ".join(row.case.split()), threads_of(row))))
            yield ahead[0][0], f"{where}: {peers}"


def print_losses(rows_of: dict[str, list[Row]]) -> None:
    """Prints the cases in which a peer is ahead, the worst first."""
    if not any(is_subject(name) for rows in rows_of.values() for row in rows for name in row.times):
        return
    found = sorted((r, f"{suite}: {w}") for suite, rows in rows_of.items() for r, w in losses(rows))
    head = "Cases that Tulle loses (peer's time / Tulle's)" if found else "Tulle loses no case"
    print(f"\n{head}")
    print("Gaps under 3% count as ties.")
    for _, where in found[:LONGEST_LIST]:
        print(f"  {where}")
    if len(found) > LONGEST_LIST:
        print(f"  and {len(found) - LONGEST_LIST} more, in the JSON")


def print_verdicts(verdicts_of: dict[str, list[Verdict]]) -> None:
    """Prints every promise and whether it holds."""
    print("\nPromises")
    words = {True: "holds", False: "FAILS", None: "-"}
    for suite, verdicts in verdicts_of.items():
        for verdict in verdicts:
            print(f"  {words[verdict.holds]:6s} {suite}: {verdict.promise}: {verdict.found}")
