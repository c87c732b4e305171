"""Storage formats: how dimensions map to levels, as text that the compiler reads."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tulle.library import bindings
from tulle.support.errors import UserError, translated


class Level(NamedTuple):
    """An axis of the storage."""

    pos: bool  # whether it stores positions
    crd: bool  # whether it stores coordinates
    bits: bool  # whether it stores a byte for each slot: whether that holds an entry
    full: bool  # whether it holds every coordinate
    direct: bool  # whether a coordinate has the slot parent * extent + coordinate
    unused: bool  # whether slots of the coordinate -1 hold nothing
    width: int  # slots of each parent, where all have the same number; else 0
    dimension: int
    # 'w' the whole coordinate, 'q' its quotient, 'r' its remainder by `divisor`, 'd' its difference
    # to that of the dimension `second`
    part: str
    divisor: int
    second: int

    @property
    def arrays(self) -> list[str]:
        """The names of the arrays that it stores, in their order."""
        stored = (("pos", self.pos), ("crd", self.crd), ("bits", self.bits))
        return [name for name, has in stored if has]

    def extent(self, size: int) -> int:
        """How many coordinates the level has where the dimension has that size; not of a
        difference."""
        if self.part == "r":
            return self.divisor
        return -(-size // self.divisor) if self.part == "q" else size


class Part(NamedTuple):
    """A part of a composite format."""

    selector: str  # which entries it takes, for people
    format: Format


class _Description(NamedTuple):
    text: str  # the long form
    name: str  # the shortest form
    levels: tuple[Level, ...]
    parts: tuple[Part, ...] = ()
    sorted_entries: str = ""  # of a composite format: that in which entries are given out to parts


@lru_cache(maxsize=4096)
def _describe(text: str, rank: int) -> _Description:
    try:
        long, name, *lines = bindings.describe_format(text, rank).splitlines()
    except RuntimeError as error:
        raise translated(error) from None
    if lines and lines[0].startswith("sorted "):
        texts = zip(lines[2::2], lines[1::2], strict=True)
        parts = tuple(Part(selector, Format(format, rank)) for selector, format in texts)
        return _Description(long, name, (), parts, lines[0].removeprefix("sorted "))
    levels = []
    for line in lines:
        *flags, width, dimension, part, divisor, second = line.split()
        pos, crd, bits, full, direct, unused = (flag == "1" for flag in flags)
        levels.append(
            Level(
                pos=pos,
                crd=crd,
                bits=bits,
                full=full,
                direct=direct,
                unused=unused,
                width=int(width),
                dimension=int(dimension),
                part=part,
                divisor=int(divisor),
                second=int(second),
            )
        )
    return _Description(long, name, tuple(levels))


_LONG_FORM = re.compile(r"\s*\(([^)]*)\)\s*->\s*\((.*)\)\s*", re.DOTALL)
_DIMENSIONS = re.compile(r"\(([^()]*)\)\s*->")
_REORDERED = re.compile(r"\s*\(([^)]*)\)\s*->\s*(\([^)]*\))\s*((?:\{|columns).*)", re.DOTALL)


def _dimension_names(long_form: str) -> list[str]:
    match = _LONG_FORM.fullmatch(long_form)
    if not match:
        raise UserError(f"format: {long_form!r} does not read '(i,j) -> (i: dense, ...)'.")
    return [name.strip() for name in match[1].split(",") if name.strip()]


def _rank_of(text: str) -> int:
    """The rank that a text with dimensions is for; a composite one has them first or in a part."""
    if "{" not in text:
        return len(_dimension_names(text))
    match = _DIMENSIONS.search(text)
    return len(match[1].split(",")) if match else 2


def _reordered(text: str, order: tuple[int, ...]) -> str:
    """The composite format of the tensor whose dimension d is this one's dimension order[d]."""
    match = _REORDERED.fullmatch(text)
    names = [name.strip() for name in match[1].split(",")] if match else []
    names = names or [f"d{d}" for d in range(len(order))]
    parts = f"{match[2]}{match[3]}" if match else f"({','.join(names)}){text}"
    return f"({','.join(names[d] for d in order)}) -> {parts}"


@lru_cache(maxsize=4096)
def _counted_levels(long_form: str) -> tuple[str, ...]:
    """The levels with their dimensions counted, not named."""
    names = _dimension_names(long_form)
    match = _LONG_FORM.fullmatch(long_form)
    levels = match[2].split(",") if match else []
    counted = []
    for level in levels:
        expression, _, kind = level.partition(":")
        numbered = re.sub(
            r"[A-Za-z_]\w*", lambda name: f"d{names.index(name[0])}", expression.replace(" ", "")
        )
        counted.append(f"{numbered}:{' '.join(kind.split())}")
    return tuple(counted)


class Format:
    """A storage format: a name ("csr", "bsr(16,16)"), the long form,
    "(i,j) -> (i: dense, j: compressed)", or a composite of several, "hyb(2,3)",
    "{ rows(nnz<=4): ell(4); rest: csr }".

    A name fits several ranks; without `rank` it gets one from the tensor that it is used for.
    """

    __slots__ = ("_text", "rank")
    _text: str
    rank: int | None

    def __init__(self, text: str | Format, rank: int | None = None) -> None:
        if isinstance(text, Format):
            Format.__init__(self, text._text, text.rank if rank is None else rank)
            return
        if not isinstance(text, str):
            raise UserError(
                f"format: expected text such as 'csr', or a tulle.Format, but found {text!r}."
            )
        if rank is not None and (not isinstance(rank, int) or rank < 0):
            raise UserError(f"format: expected a rank from 0 on, but found {rank!r}.")
        if rank is None and "->" in text:
            rank = _rank_of(text)
        # Every name is one for matrices, so that a misspelled one is found at once.
        described = _describe(text, 2 if rank is None else rank)
        self.rank = rank
        self._text = text.strip() if rank is None else described.name

    def _described(self) -> _Description:
        if self.rank is None:
            raise UserError(
                f"The format '{self._text}' fits several ranks; say which: "
                f"tulle.Format({self._text!r}, rank=3)."
            )
        return _describe(self._text, self.rank)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, outermost first. A composite format has parts instead."""
        described = self._described()
        if described.parts:
            raise UserError(
                f"The composite format '{self._text}' has no levels of its own; look at those of "
                "its parts."
            )
        return described.levels

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of a composite format; none of any other."""
        return self._described().parts

    @property
    def sorted_entries(self) -> str:
        """The format in which entries are given out to the parts of a composite format."""
        return self._described().sorted_entries

    @property
    def is_composite(self) -> bool:
        """Whether tensors are stored in several parts."""
        return bool(_describe(self._text, 2 if self.rank is None else self.rank).parts)

    @property
    def long_form(self) -> str:
        """The text that spells every level out."""
        return self._described().text

    @property
    def is_dense(self) -> bool:
        """Whether it is row-major and stores everything, as an ordinary tensor does."""
        return self._text == "dense"

    def of_rank(self, rank: int) -> Format:
        """This format for tensors of that rank."""
        return self if self.rank == rank else Format(self._text, rank)

    def permuted(self, order: tuple[int, ...]) -> Format:
        """The format of the tensor whose dimension d is this one's dimension order[d]."""
        text = self.long_form
        if self.is_composite:
            return Format(_reordered(text, order), len(order))
        names = _dimension_names(text)
        left = ",".join(names[d] for d in order)
        return Format(f"({left}) {text[text.index('->') :]}", len(order))

    def _identity(self) -> tuple[object, ...]:
        """What tells storage apart."""
        if self.rank is None:
            return (self._text,)
        if self.is_composite:
            return (self.rank, self.long_form)
        return (self.rank, *_counted_levels(self.long_form))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            other = Format(other)
        if not isinstance(other, Format):
            return NotImplemented
        if self.rank == other.rank and self._text == other._text:
            return True
        if self.rank is None and other.rank is not None:
            return self.of_rank(other.rank) == other
        if other.rank is None and self.rank is not None:
            return self == other.of_rank(self.rank)
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        # A format without a rank equals one with any rank, so that the rank cannot take part.
        return hash(Format)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        rank = "" if self.rank is None or "->" in self._text else f", rank={self.rank}"
        return f"tulle.Format({self._text!r}{rank})"

    def __reduce__(self) -> tuple[object, ...]:
        return Format, (self._text, self.rank)
