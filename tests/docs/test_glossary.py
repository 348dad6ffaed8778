"""The glossary has one line for a word, and the pages can be found from the first one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A word in a line's first column, and where it is meant that way if it means something else elsewhere.
WORD = re.compile(r"\*([^*]+)\*(?: \(([^)]+)\))?")


def defined() -> list[tuple[str, str]]:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    firsts = [line.split("|")[1] for line in lines if line.startswith("| *")]
    return [found for first in firsts for found in WORD.findall(first)]


def test_a_word_is_defined_once_or_says_where_it_means_what() -> None:
    numbers = Counter(word for word, _ in defined())

    assert {word for (word, where), number in Counter(defined()).items() if number > 1} == set()
    assert {word for word, where in defined() if numbers[word] > 1 and not where} == set()


def test_every_page_is_named_where_readers_begin() -> None:
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))

    assert {path.name for path in (ROOT / "docs").glob("*.md") if f"(docs/{path.name})" not in text} == set()
