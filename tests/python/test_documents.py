"""The code in the documents and the examples runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import tulle

ROOT = Path(__file__).resolve().parents[2]


def run(arguments: list[str], folder: Path) -> str:
    """Runs Python in this folder with a cache of its own."""
    environment = os.environ | {"TULLE_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PAGES = ["cookbook", "gpu", "pytorch", "semantics", "training", "tuning"]


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{page}.md" for page in PAGES)])
def test_code_of_a_document(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
    assert blocks
    script = tmp_path / "document.py"
    script.write_text("\n".join(blocks))
    run([str(script)], tmp_path)


def test_formats_have_the_names_that_messages_give_them() -> None:
    with pytest.raises(tulle.UserError) as refused:
        tulle.Format("no-such-format")
    listed = re.findall(r"[a-z][a-z-]*(?:\([a-z,]+\))?", str(refused.value).split("names are ")[1])
    names = set(listed[: listed.index("and")]) - {"the", "composite", "formats", "are"}

    def written_in(document: str, begin: str, end: str) -> set[str]:
        text = (ROOT / document).read_text().split(begin)[1].split(end)[0]
        return set(re.findall(r"[a-z][a-z-]*(?:\([a-z,]+\))?", text))

    assert "pieces(g)" in names
    in_readme = written_in("README.md", "- **Formats**\n", "\n- ")
    assert names - in_readme == {"dia-csr(l,u)", "bsr-csr(r,c)"}
    assert names <= written_in("CHANGELOG.md", "**Formats.**", "\n- ")


def test_the_reference_has_the_names_that_messages_give() -> None:
    reference = (ROOT / "docs/semantics.md").read_text()
    with pytest.raises(tulle.UserError) as no_function:
        tulle.compute("y[i] = no_such(x[i])", x=torch.ones(2))
    with pytest.raises(tulle.UserError) as no_step:
        tulle.kernel("y[i] = x[i]", x="dense").schedule("no_such(i)")
    for refused, begin, section in (
        (no_function, "the functions are ", "Expressions consist of:"),
        (no_step, "they are ", "## Schedules"),
    ):
        listed = str(refused.value).split(begin)[1].splitlines()[0].partition(";")[0].split(", ")
        text = reference.split(section)[1].split("\n## ")[0]
        code = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
        written = set(re.findall(r"\w+", " ".join(code)))
        assert len(listed) > 10 and set(listed) - written == set()


def test_a_schedule_by_hand(tmp_path: Path) -> None:
    text = run([str(ROOT / "examples/schedule.py"), "--size", "500"], tmp_path)
    assert "cpu: planned" in text and "by hand" in text
    assert "refused: " in text


def test_the_example_for_a_gpu_is_among_the_kept_schedules() -> None:
    example = (ROOT / "examples/schedule.py").read_text()
    steps = example.split('ON_GPU = """')[1].split('"""')[0].split()
    kept = (ROOT / "tests/differential/bound_schedules.cpp").read_text()
    entry = kept.split('{"ExampleByHand"')[1].split("},\n      {")[0]
    assert "".join(steps) == "".join(re.sub(r'[";\s]', "", entry.split("64})},")[1]).split())


def test_a_search(tmp_path: Path) -> None:
    options = ["--size", "300", "--seconds", "0.5", "--plot", "search.svg"]
    text = run([str(ROOT / "examples/tune.py"), *options], tmp_path)
    assert "300 x 300" in text and "candidates measured" in text
    assert "<svg" in (tmp_path / "search.svg").read_text()


def test_composite(tmp_path: Path) -> None:
    picture = tmp_path / "parts.svg"
    options = ["--size", "400", "--plot", str(picture)]
    text = run([str(ROOT / "examples/composite.py"), *options], tmp_path)
    assert "C is the sum over the 3 parts of A" in text
    assert "band(-2,2): dia" in picture.read_text()


@pytest.mark.parametrize("option", ["", "--compile"])
def test_training_of_a_graph_network(option: str, tmp_path: Path) -> None:
    sizes = ["--nodes", "1000", "--groups", "4", "--epochs", "20", *option.split()]
    text = run([str(ROOT / "examples/train_gcn.py"), *sizes], tmp_path)
    losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", text)]
    assert len(losses) == 3
    assert losses[-1] < 0.7 * losses[0]


def test_training_of_a_pruned_network(tmp_path: Path) -> None:
    sizes = ["--samples", "1000", "--features", "16", "--hidden", "64", "--density", "0.1"]
    text = run([str(ROOT / "examples/prune_mlp.py"), *sizes, "--steps", "60"], tmp_path)
    found = re.findall(r"(\d[\d,]*) parameters, loss +([0-9.]+)", text)
    dense, pruned, tuned = [(int(count.replace(",", "")), float(loss)) for count, loss in found]
    assert pruned[0] == tuned[0] < 0.3 * dense[0]
    assert tuned[1] < pruned[1]
