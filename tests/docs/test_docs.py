"""The pages in docs/ and the docstrings say what is true: their examples are run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    pytest.param(path, id=path.name, marks=[pytest.mark.spark, pytest.mark.slow] if path.name == "spark.md" else [])
    for path in sorted(ROOT.glob("docs/*.md"))
    if ">>>" in path.read_text() and path.name != "kafka.md"  # it needs a broker: tests/spark/test_kafka.py
]
MODULES = sorted(module.name for module in pkgutil.walk_packages(weft.__path__, "weft."))


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_give_what_it_shows(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)

    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_give_what_they_show(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)

    assert result.failed == 0


def test_the_example_of_the_readme_runs() -> None:
    text = (ROOT / "README.md").read_text()

    code = text.split("```python\n", 1)[1].split("```", 1)[0]

    exec(compile(code, "README.md", "exec"), {})
