"""Storage formats: how the dimensions of a tensor map to levels, as text for the compiler."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from torch.compiler import is_compiling

from tulle.library import bindings
from tulle.support.errors import UserError


class Level(NamedTuple):
    """A level of the storage."""

    pos: bool  # stores positions
    crd: bool  # stores coordinates
    bits: bool  # stores a byte for each slot that says whether the slot holds an entry
    full: bool  # holds every coordinate
    direct: bool  # coordinate c of parent p has the slot p * extent + c
    unused: bool  # a slot with the coordinate -1 holds no entry
    width: int  # slots of each parent if all have the same number, else 0
    dimension: int
    # The part of the coordinate that the level holds: 'w' all of it, 'q' its quotient by `divisor`,
    # 'r' its remainder, 'd' its difference to the coordinate of the dimension `second`.
    part: str
    divisor: int
    second: int

    @property
    def arrays(self) -> list[str]:
        """The names of the arrays that the level stores, in storage order."""
        stored = (("pos", self.pos), ("crd", self.crd), ("bits", self.bits))
        return [name for name, has in stored if has]

    def extent(self, size: int) -> int:
        """The number of coordinates of the level for a dimension of that size. Undefined for
        levels of differences."""
        if self.part == "r":
            return self.divisor
        return -(-size // self.divisor) if self.part == "q" else size


class Part(NamedTuple):
    """A part of a composite format."""

    selector: str  # the entries that the part takes, as text
    format: Format


class _Description(NamedTuple):
    text: str  # the long form
    name: str  # the shortest form
    levels: tuple[Level, ...]
    parts: tuple[Part, ...] = ()
    sorted_entries: str = ""  # of a composite format: the format from which entries are distributed


@lru_cache(maxsize=4096)
def _describe(text: str, rank: int) -> _Description:
    long, name, *lines = bindings.describe_format(text, rank).splitlines()
    if lines and lines[0].startswith("sorted "):
        texts = zip(lines[2::2], lines[1::2], strict=True)
        parts = tuple(Part(selector, Format(format, rank)) for selector, format in texts)
        return _Description(long, name, (), parts, lines[0].removeprefix("sorted "))
    return _Description(long, name, tuple(map(_level, lines)))


def _level(line: str) -> Level:
    """The level that a line of `describe_format` describes."""
    *flags, width, dimension, part, divisor, second = line.split()
    pos, crd, bits, full, direct, unused = (flag == "1" for flag in flags)
    return Level(
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


_LONG_FORM = re.compile(r"\s*\(([^)]*)\)\s*->\s*\((.*)\)\s*", re.DOTALL)
_DIMENSIONS = re.compile(r"\(([^()]*)\)\s*->")
_REORDERED = re.compile(r"\s*\(([^)]*)\)\s*->\s*(\([^)]*\))\s*((?:\{|columns).*)", re.DOTALL)


def _dimension_names(long_form: str) -> list[str]:
    match = _LONG_FORM.fullmatch(long_form)
    if not match:
        raise UserError(f"format: {long_form!r} does not read '(i,j) -> (i: dense, ...)'.")
    return [name.strip() for name in match[1].split(",") if name.strip()]


def _rank_of(text: str) -> int:
    """The rank that a long form names. A composite format names its dimensions at the start or in
    a part."""
    if "{" not in text:
        return len(_dimension_names(text))
    match = _DIMENSIONS.search(text)
    return len(match[1].split(",")) if match else 2


def _reordered(text: str, order: tuple[int, ...]) -> str:
    """The composite format after a permutation: dimension d of the result is dimension order[d] of
    the given format."""
    match = _REORDERED.fullmatch(text)
    names = [name.strip() for name in match[1].split(",")] if match else []
    names = names or [f"d{d}" for d in range(len(order))]
    parts = f"{match[2]}{match[3]}" if match else f"({','.join(names)}){text}"
    return f"({','.join(names[d] for d in order)}) -> {parts}"


@lru_cache(maxsize=4096)
def _counted_levels(long_form: str) -> tuple[str, ...]:
    """The levels with numbered dimensions in place of named ones."""
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

    A name fits several ranks. Without `rank` the format takes the rank of the tensor that it is
    used for.
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
        # Every name is valid for matrices, so rank 2 finds a misspelt name early.
        described = _describe(text, 2 if rank is None else rank)
        self.rank = rank
        self._text = text.strip() if rank is None else described.name

    @classmethod
    def of_pattern(cls, text: str, rank: int) -> Format:
        """The format with this `str`, without a check. torch.compile can trace this function."""
        found = cls.__new__(cls)
        found._text = text
        found.rank = rank
        return found

    def _described(self) -> _Description:
        if self.rank is None:
            raise UserError(
                f"The format '{self._text}' fits several ranks; say which: "
                f"tulle.Format({self._text!r}, rank=3)."
            )
        return _describe(self._text, self.rank)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, outermost first. A composite format has `parts` instead."""
        described = self._described()
        if described.parts:
            raise UserError(
                f"The composite format '{self._text}' has no levels of its own; look at the "
                "levels of its parts."
            )
        return described.levels

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of a composite format; empty for any other format."""
        return self._described().parts

    @property
    def sorted_entries(self) -> str:
        """The format from which entries are distributed to the parts of a composite format."""
        return self._described().sorted_entries

    @property
    def is_composite(self) -> bool:
        """Whether the format stores a tensor in several parts."""
        return bool(_describe(self._text, 2 if self.rank is None else self.rank).parts)

    @property
    def long_form(self) -> str:
        """The text that lists every level."""
        return self._described().text

    @property
    def counted_levels(self) -> tuple[str, ...]:
        """The text of each level with numbered dimensions: ("d0:dense", "d1:compressed")."""
        return _counted_levels(self.long_form)

    @property
    def is_dense(self) -> bool:
        """Whether the format is row-major and stores every element, like an ordinary tensor."""
        return self._text == "dense"

    def of_rank(self, rank: int) -> Format:
        """The same format for tensors of that rank."""
        return self if self.rank == rank else Format(self._text, rank)

    def permuted(self, order: tuple[int, ...]) -> Format:
        """The format after a permutation: dimension d of the result is dimension order[d] of this
        format."""
        text = self.long_form
        if self.is_composite:
            return Format(_reordered(text, order), len(order))
        names = _dimension_names(text)
        left = ",".join(names[d] for d in order)
        return Format(f"({left}) {text[text.index('->') :]}", len(order))

    def with_batch(self) -> Format:
        """The format with a further dimension, the last one, which is dense and innermost."""
        names = _dimension_names(self.long_form)
        batch = next(name for n in range(len(names) + 1) if (name := f"b{n}") not in names)
        match = _LONG_FORM.fullmatch(self.long_form)
        assert match
        levels = [level for level in (match[2].strip(), f"{batch}: dense") if level]
        return Format(f"({','.join([*names, batch])}) -> ({', '.join(levels)})", len(names) + 1)

    def _identity(self) -> tuple[object, ...]:
        """A key that is equal for formats with equal storage."""
        if self.rank is None:
            return (self._text,)
        if self.is_composite:
            return (self.rank, self.long_form)
        return (self.rank, *_counted_levels(self.long_form))

    def __eq__(self, other: object) -> bool:
        if is_compiling():
            if isinstance(other, str):
                return _are_equal(self._text, self.rank, other, None)
            if isinstance(other, Format):
                return _are_equal(self._text, self.rank, other._text, other.rank)
            return NotImplemented
        if isinstance(other, str):
            other = Format(other)
        return self._equals(other) if isinstance(other, Format) else NotImplemented

    def _equals(self, other: Format) -> bool:
        if self.rank == other.rank and self._text == other._text:
            return True
        if self.rank is None and other.rank is not None:
            return self.of_rank(other.rank)._equals(other)
        if other.rank is None and self.rank is not None:
            return self._equals(other.of_rank(self.rank))
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        # A format without a rank equals the same format of any rank, so all hashes are equal.
        return hash(Format)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        rank = "" if self.rank is None or "->" in self._text else f", rank={self.rank}"
        return f"tulle.Format({self._text!r}{rank})"

    def __reduce__(self) -> tuple[object, ...]:
        return Format, (self._text, self.rank)

    def __setstate__(self, state: object) -> None:
        raise UserError("A pickled format has a text and a rank, but this one has other state.")


def check_takes_several_values(format: Format) -> None:
    """Raises UserError for a format in which an entry cannot have a dense block of values."""
    if format.is_composite:
        raise UserError(
            f"with_values: a tensor in the format {format} takes one value for each entry; convert "
            'it first: A.to(format="csr").'
        )


def _are_equal(text: str, rank: int | None, other: str, other_rank: int | None) -> bool:
    """Whether two formats are equal."""
    return Format(text, rank)._equals(Format(other, other_rank))


# What torch.compiler.assume_constant_result does, which would import Dynamo: the tracer calls the
# function, and does not follow it.
_are_equal._dynamo_marked_constant = True  # type: ignore[attr-defined]
