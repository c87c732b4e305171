"""Tulle's three kinds of error, and their translation from PyTorch's RuntimeError."""

from __future__ import annotations


class UserError(ValueError):
    """The caller passed something wrong. The message says what was found, what was expected and
    what to do."""

    __module__ = "tulle"


class OutOfRange(UserError, IndexError):
    """An index has a coordinate or a dimension that the tensor does not have."""

    __module__ = "tulle"


class MissingPackage(UserError, ImportError):
    """An optional package is not installed."""

    __module__ = "tulle"


def missing_package(what: str, package: str, install: str) -> MissingPackage:
    """The error for a function that needs an optional package; `install` is what pip installs."""
    return MissingPackage(f"{what} needs {package}: pip install {install}.")


class Unsupported(NotImplementedError):
    """The request is legal, but this version cannot do it. The message names a way around."""

    __module__ = "tulle"


class InternalError(RuntimeError):
    """A bug in Tulle."""

    __module__ = "tulle"


_BY_PREFIX: dict[str, type[Exception]] = {
    "tulle.UserError: ": UserError,
    "tulle.Unsupported: ": Unsupported,
    "tulle.InternalError: ": InternalError,
}


def translated(error: RuntimeError) -> Exception:
    """The error that the compiled library raised: PyTorch turns every C++ exception into a
    RuntimeError, and the message starts with the original type. Other errors stay as they are."""
    message = str(error)
    for prefix, kind in _BY_PREFIX.items():
        if message.startswith(prefix):
            return kind(message.removeprefix(prefix))
    return error
