"""Writes docs/compatibility.md: PYTHONPATH=tests/python .venv/bin/python -m compatibility"""

from __future__ import annotations

from pathlib import Path

from compatibility.page import compose

PAGE = Path(__file__).resolve().parents[3] / "docs/compatibility.md"

if __name__ == "__main__":
    PAGE.write_text(compose(), encoding="utf-8")
    print(f"wrote {PAGE}")
