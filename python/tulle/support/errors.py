"""Tulle's three kinds of error, and how they come out of the compiled library."""

from __future__ import annotations


class UserError(ValueError):
    """What was given is wrong; the message says what was found, what was expected, what to do."""

    __module__ = "tulle"


class Unsupported(NotImplementedError):
    """Legal, but this version cannot do it; the message names a way around."""

    __module__ = "tulle"


class InternalError(RuntimeError):
    """A bug of Tulle's."""

    __module__ = "tulle"


_BY_PREFIX: dict[str, type[Exception]] = {
    "tulle.UserError: ": UserError,
    "tulle.Unsupported: ": Unsupported,
    "tulle.InternalError: ": InternalError,
}


def translated(error: RuntimeError) -> Exception:
    """The error that an operator meant: PyTorch raises RuntimeError for all that C++ throws."""
    message = str(error)
    for prefix, kind in _BY_PREFIX.items():
        if message.startswith(prefix):
            return kind(message.removeprefix(prefix))
    return error
