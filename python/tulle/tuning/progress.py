"""The progress bar of a search, drawn by tqdm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tulle.support.errors import missing_package

# Takes the share of the time that has passed, and a summary of the search.
Show = Callable[[float, str], None]


@contextmanager
def progress_bar(is_wanted: bool | None) -> Iterator[Show | None]:
    """A function that updates a bar on stderr; None if there is no bar. Without a choice of the
    caller there is a bar on a terminal if tqdm is installed."""
    if is_wanted is False or (is_wanted is None and not sys.stderr.isatty()):
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        if is_wanted:
            raise missing_package("tune: progress=True", "tqdm", "tqdm") from None
        yield None
        return
    shape = "{percentage:3.0f}%|{bar:30}| {desc}"
    with tqdm(total=1.0, bar_format=shape, leave=False, file=sys.stderr) as bar:

        def show(share: float, text: str) -> None:
            bar.n = min(1.0, share)
            bar.set_description_str(text)  # which redraws the bar

        yield show
