"""The libraries load, answer through the stable ABI, and keep to themselves what is theirs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import tulle
from tulle.library import bindings
from tulle.library.bindings import library_folder

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
        env={"PATH": "/usr/bin", "TULLE_LIBRARY_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert "make build" in result.stderr


def test_keys_of_programs_may_bound_rows() -> None:
    key = "operand A f32 i32 2 {}csr\noperand B f32 i64 2 dense\ncompute\nC[i,k] = A[i,j] * B[j,k]"
    assert bindings.describe(key.format("longest=64 ")) == bindings.describe(key.format(""))
    with pytest.raises(RuntimeError, match="'many' is not a number of entries"):
        bindings.describe(key.format("longest=many "))
