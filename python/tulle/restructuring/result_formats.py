"""The formats of results of changes of structure.

A result keeps the levels of the dimensions that it has in common with the operand:

- The levels of other dimensions are dropped. A new dimension gets a dense level, outermost; COO
  stays COO.
- Blocks remain where coordinates shift by whole blocks. Diagonals remain where consecutive
  coordinates are taken of both dimensions. Composite formats remain where such coordinates are
  taken of all dimensions.
- `padded` and `ragged` levels become compressed unless consecutive coordinates are taken.
- Where only dense levels remain, the innermost one becomes compressed.

Where the levels cannot remain, the result has the default format: COO for COO operands, CSF for
operands that store only coordinates, otherwise CSR (rank 2) or CSF. Vectors are compressed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tulle.support.errors import UserError
from tulle.tensors.formats import Format, Level


@dataclass(frozen=True)
class Origin:
    """The dimension of the operand that becomes a dimension of the result."""

    dimension: int
    shift: int = 0  # coordinates move by multiples of this
    is_run: bool = True  # consecutive coordinates are taken, in order


def moved(dimension: int, shift: int = 1) -> Origin:
    """A dimension whose coordinates are taken in any order, or several times."""
    return Origin(dimension, shift, is_run=False)


# For each dimension of the result its origin; None for a new dimension.
Origins = Sequence[Origin | None]


def result_format(source: Format, origins: Origins) -> Format:
    """The format of a result with these dimensions."""
    return _result_format(source._text, source.rank or 0, tuple(origins))


def default_format(source: Format, rank: int) -> Format:
    """The format of a result that cannot have the levels of the operand."""
    levels = () if source.is_composite else source.levels
    if rank == 1 or any(_is_singleton(level) for level in levels):
        return Format("coo", rank)
    is_hypersparse = bool(levels) and not any(level.direct for level in levels)
    return Format("csr" if rank == 2 and not is_hypersparse else "csf", rank)


@lru_cache(maxsize=4096)
def _result_format(text: str, source_rank: int, origins: tuple[Origin | None, ...]) -> Format:
    source, rank = Format(text, source_rank), len(origins)
    if source.is_composite:
        runs = [origin.dimension for origin in origins if origin and origin.is_run]
        is_whole = runs == list(range(source_rank)) and len(runs) == rank
        return source if is_whole else default_format(source, rank)
    levels = _remaining_levels(source, origins)
    if levels is None:
        return default_format(source, rank)
    names = ",".join(f"d{at}" for at in range(rank))
    new = [f"d{at}: dense" for at, origin in enumerate(origins) if origin is None]
    try:
        return Format(f"({names}) -> ({', '.join([*new, *levels])})", rank)
    except UserError:  # no legal format has these levels
        return default_format(source, rank)


def _remaining_levels(source: Format, origins: Origins) -> list[str] | None:
    """The levels of the dimensions that remain; None if they cannot remain."""
    found = {one.dimension: (at, one) for at, one in enumerate(origins) if one is not None}
    chains = _chains(source)
    if None in origins and len(chains) == 1 and len(chains[0]) > 1:
        return None
    texts: list[str] = []
    is_full = True
    for chain in chains:
        kept = [(level, text) for level, text in chain if level.dimension in found]
        if any(_is_broken(level, found) for level, _ in chain):
            return None
        is_same = len(kept) == len(chain)
        is_moved = not all(found[level.dimension][1].is_run for level, _ in kept)
        for number, (level, text) in enumerate(kept):
            expression, kind = text.split(":")
            if len(chain) > 1 and (is_moved or not is_same):
                last = "" if number == len(kept) - 1 else " nonunique"
                kind = f"{'singleton' if number else 'compressed'}{last}"
            elif is_moved and (level.width or (level.pos and not level.crd)):
                kind = "compressed"
            is_full = is_full and level.full
            texts.append(f"{_renamed(expression, found)}: {kind}")
    if not texts:
        return None
    if is_full:
        expression = texts[-1].split(":")[0]
        return None if "%" in expression else [*texts[:-1], f"{expression}: compressed"]
    return texts


def _chains(source: Format) -> list[list[tuple[Level, str]]]:
    """The levels with their texts. A level and the singletons below it are one chain."""
    chains: list[list[tuple[Level, str]]] = []
    for level, text in zip(source.levels, source.counted_levels, strict=True):
        if _is_singleton(level) and chains:
            chains[-1].append((level, text))
        else:
            chains.append([(level, text)])
    return chains


def _is_broken(level: Level, found: dict[int, tuple[int, Origin]]) -> bool:
    """Whether a level of a part of a coordinate cannot remain."""
    if level.part == "d":
        pair = [found.get(level.dimension), found.get(level.second)]
        return not all(one is not None and one[1].is_run for one in pair)
    if level.dimension not in found or level.part == "w":
        return False
    return found[level.dimension][1].shift % level.divisor != 0


def _is_singleton(level: Level) -> bool:
    return level.crd and not level.pos and not level.width


def _renamed(expression: str, found: dict[int, tuple[int, Origin]]) -> str:
    return re.sub(r"d(\d+)", lambda name: f"d{found[int(name[1])][0]}", expression)
