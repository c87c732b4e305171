"""Compiles the contenders in C++ for this machine. A library is cached until its sources change."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
CACHE = SOURCES.parents[1] / "build" / "bench"
FLAGS = [
    "-std=c++20",
    "-march=native",
    "-fopenmp",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
]
EIGEN_PLACES = ["/usr/include/eigen3", "/usr/local/include/eigen3"]


class Unavailable(Exception):
    """A contender cannot be built or run here; the text says what is missing."""


def _cpu() -> str:
    """The machine's instruction sets, which -march=native depends on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line for line in lines if line.startswith("flags")), "")


def _compile(
    source: str, extra: list[str], after: Sequence[str] = (), headers: Sequence[Path] = ()
) -> ctypes.CDLL:
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        raise Unavailable("no C++ compiler: set CXX, or apt install g++")
    path = SOURCES / source
    command = [compiler, *FLAGS, *extra]
    texts = [file.read_text() for file in (path, *headers)]
    key = hashlib.sha256("\0".join([*command, _cpu(), *texts]).encode()).hexdigest()[:16]
    library = CACHE / f"{path.stem}-{key}.so"
    if not library.exists():
        print(f"building {source} ({compiler} {extra[0]} -march=native)", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = library.with_suffix(f".{os.getpid()}")
        done = subprocess.run(
            [*command, str(path), *after, "-o", str(unfinished)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Unavailable(f"{source} does not compile:\n{done.stderr}")
        unfinished.replace(library)
    return ctypes.CDLL(str(library))


@functools.cache
def tulle() -> ctypes.CDLL:
    """Tulle's C++ interface, with the library that the package in this checkout uses."""
    root = SOURCES.parents[1]
    library = root / "build"
    flags = ["-I", str(root / "include"), "-L", str(library), f"-Wl,-rpath,{library}", "-ltulle"]
    headers = sorted((root / "include").rglob("*.h"))
    return _compile("tulle_spmm.cpp", ["-O2"], flags, headers)


@functools.cache
def twin() -> ctypes.CDLL:
    """The hand-written SpMM; it needs AVX-512."""
    if " avx512f" not in _cpu():
        raise Unavailable("the hand-written twin needs a processor with AVX-512")
    # With -O3 GCC duplicates the end of the row loop, which hurts branch prediction in short rows.
    return _compile("spmm.cpp", ["-O2"])


@functools.cache
def eigen() -> ctypes.CDLL:
    """Eigen's SpMM."""
    place = next((p for p in EIGEN_PLACES if Path(p, "Eigen").is_dir()), None)
    if place is None:
        raise Unavailable("Eigen is missing: apt install libeigen3-dev")
    return _compile("eigen.cpp", ["-O3", "-isystem", place, "-DNDEBUG"])
