"""The libraries load, work through the stable ABI, and export nothing but their interface."""

from __future__ import annotations

import collections.abc
import os
import re
import shutil
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

import pytest
import torch

import tulle
from tulle.library import bindings
from tulle.library.loading import library_folder
from tulle.tensors.torch_dispatch import handlers

ROOT = Path(__file__).resolve().parents[2]


def symbols(library: str, *options: str) -> list[str]:
    """The dynamic symbols of a library, demangled."""
    nm = shutil.which("nm")
    assert nm, "nm (binutils) is needed to look at the libraries"
    command = [nm, "-D", "-C", "--format=posix", *options, str(library_folder() / library)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [re.sub(r" [A-Za-z]( [0-9a-f]+)*$", "", line) for line in lines]


def test_version_is_the_one_in_pyproject() -> None:
    declared = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared
    assert tulle.__version__ == declared[1]


def test_what_is_shown_is_for_users() -> None:
    assert dir(tulle) == sorted(tulle.__all__)
    for name in dir(tulle):
        value = getattr(tulle, name)
        if name == "nn":  # torch has its modules in a namespace of this name, too
            continue
        assert not isinstance(value, types.ModuleType), name
        assert name == "__version__" or value.__module__.split(".")[0] == "tulle", name


def test_core_exports_only_its_own_symbols() -> None:
    exported = symbols("libtulle.so", "--defined-only")
    assert "tulle::version()" in exported
    ours = re.compile(r"^(tulle_|tulle::|(typeinfo( name)?|vtable) for tulle::)")
    assert [name for name in exported if not ours.match(name)] == []


def test_shim_exports_nothing() -> None:
    assert symbols("libtulle_torch.so", "--defined-only") == []


def test_core_knows_neither_torch_nor_python() -> None:
    foreign = re.compile(r"^(aoti_torch|torch_|c10::|at::|Py[A-Z_])")
    undefined = symbols("libtulle.so", "--undefined-only")
    assert [name for name in undefined if foreign.match(name)] == []


def test_missing_libraries_are_explained(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import tulle"],
        env={
            "PATH": "/usr/bin",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "TULLE_LIBRARY_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert "make build" in result.stderr


def test_keys_of_programs_may_bound_rows() -> None:
    key = "operand A f32 i32 2 {}csr\noperand B f32 i64 2 dense\ncompute\nC[i,k] = A[i,j] * B[j,k]"
    assert bindings.describe(key.format("longest=64 ")) == bindings.describe(key.format(""))
    with pytest.raises(tulle.UserError, match="'many' is not a number of entries"):
        bindings.describe(key.format("longest=many "))


# ---- the declarations of operators ---------------------------------------------------------------

SCHEMA_TYPES = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    torch.Tensor: "Tensor",
    list[torch.Tensor]: "List[Tensor]",
    list[int]: "List[int]",
}


def schema_of(name: str) -> tuple[list[str], list[str]]:
    """The types of the arguments and results in the schema of an operator."""
    schema = getattr(torch.ops.tulle, name).default._schema
    return [str(one.type) for one in schema.arguments], [str(one.type) for one in schema.returns]


def written(arguments: list[Any], result: Any) -> tuple[list[str], list[str]]:
    """Python types in the notation of schemas."""
    results = [] if result in (None, type(None)) else [SCHEMA_TYPES[result]]
    return [SCHEMA_TYPES[one] for one in arguments], results


def declared(hint: Any, tensors: int = 0) -> tuple[list[str], list[str]]:
    """The types of a declaration: a Callable, or a Protocol with that many variadic tensors."""
    if not isinstance(hint, type):
        arguments, result = typing.get_args(hint)
        return written(list(arguments), result)
    call = typing.get_type_hints(hint.__call__)
    result = call.pop("return")
    variadic = call.pop("tensors") if tensors else None
    return written([*call.values(), *[variadic] * tensors], result)


HINTS = typing.get_type_hints(bindings)
OTHER_NAMES = {"program_number": "number"}  # of operators
LISTS = {"calls": "call", "calls_into": "into"}
OPERATORS = [
    name
    for name, hint in HINTS.items()
    if typing.get_origin(hint) is collections.abc.Callable or name == "keep_schedule"
]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_have_the_declared_types(name: str) -> None:
    assert declared(HINTS[name]) == schema_of(OTHER_NAMES.get(name, name))


@pytest.mark.parametrize("name", LISTS)
def test_operators_for_numbers_of_tensors_have_the_declared_types(name: str) -> None:
    (hint,) = typing.get_args(HINTS[name])
    assert len(getattr(bindings, name)) == bindings.MAX_TENSORS
    for count in range(1, bindings.MAX_TENSORS + 1):
        assert declared(hint, count) == schema_of(f"{LISTS[name]}{count}")


def test_every_operator_is_declared() -> None:
    registered = {
        schema.name.removeprefix("tulle::")
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("tulle::")
    }
    counted = {
        f"{kind}{count}" for kind in LISTS.values() for count in range(1, bindings.MAX_TENSORS + 1)
    }
    known = {OTHER_NAMES.get(name, name) for name in OPERATORS}
    assert registered - counted - known == {"version", "loaded"}


def test_handlers_belong_to_functions() -> None:
    """torch.compile asks for the hash of each key, and has none for properties of tensors."""
    assert all(callable(function) for function in handlers)
