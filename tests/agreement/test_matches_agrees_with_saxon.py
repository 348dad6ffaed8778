"""Regular expressions as XPath writes them: `matches()` finds what Saxon, which knows XPath 3.1, finds."""

from collections.abc import Iterator

import pytest
from saxonche import PySaxonProcessor, PyXPathProcessor

from oracle import table_of
from weft.engine import Engine
from weft.languages import parse

TEXTS = ["", "foo", "1", "12", " ", "\n", "a\nb", "a b", "é", "É", "٣", "€", "-", "_", "a.b", "abc", "aac", "aaa", "A"]
TEXTS += [
    "$",
    "^",
    "²",
    "a\n",
    "\u00a0",
    "日",
    "x]",
    "\\",
    "{",
    "ab\nbc",
    ".",
    "a'",
    "x",
    "0x1F",
    "[a]",
    "(",
    "+",
    "\t",
]
PATTERNS = ["", "^f", "o$", "o+$", "^$", "^a*$", "a??", "(a|b)+c", "a{2}", "^a{2,}$", "^a{2,3}$", "a|", "()", "(?:a)b"]
PATTERNS += [
    ".",
    "^.$",
    "a.b",
    r"\.",
    r"\-",
    r"\$",
    r"\^",
    r"\[a\]",
    r"\(",
    r"\+",
    r"\\",
    r"\{",
    "é",
    "[é-ú]",
    "$",
    "^",
]
PATTERNS += [r"\d", r"^\d+$", r"\D", r"^\w+$", r"\W", r"^\W$", r"\s", r"^\S+$", r"\n", r"\t", r"[\n\t]"]
PATTERNS += ["[a-c]", "[^a]", r"[a\-z]", r"[\d-x]", r"[\w]", r"[^\w]", r"[\W]", r"[^\W]", r"[\D]", r"[^\D]", r"[^\s]"]
PATTERNS += [
    r"\p{L}",
    r"\p{Lu}",
    r"\P{L}",
    r"\p{Nd}",
    r"[\p{L}\d]",
    r"[^\p{L}]",
    r"^\p{Sc}$",
    "^[0-9A-Fx]+$",
    "b$",
    "^b",
]


def in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture(scope="module")
def saxon() -> Iterator[PyXPathProcessor]:
    with PySaxonProcessor(license=False) as processor:
        yield processor.new_xpath_processor()


def saxon_matches(saxon: PyXPathProcessor, pattern: str) -> list[str]:
    """The texts that Saxon finds; they are told by code points, so that no line end is lost."""
    texts = (f"codepoints-to-string(({','.join(str(ord(letter)) for letter in text)}))" for text in TEXTS)
    answers = f"for $text in ({', '.join(texts)}) return if (matches($text, {in_quotes(pattern)})) then '1' else '0'"
    found = saxon.evaluate(f"string-join({answers})")
    return [text for text, answer in zip(TEXTS, str(found.head), strict=True) if answer == "1"]


def weft_matches(pattern: str, subject: str) -> list[str]:
    """The texts that Weft finds, each the content of one element."""
    written = ["".join(f"&#{ord(letter)};" for letter in text) for text in TEXTS]
    table = table_of([f"<all>{''.join(f'<t><u>{text}</u></t>' for text in written)}</all>"])
    engine = Engine()
    engine.add(0, parse(f"/all/t[matches({subject}, {in_quotes(pattern)})]"))
    return [table.string_value(node) for node in engine.match(table).nodes()[2].tolist()]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_finds_the_texts_that_saxon_finds(saxon: PyXPathProcessor, pattern: str) -> None:
    expected = saxon_matches(saxon, pattern)

    assert weft_matches(pattern, ".") == expected
    assert weft_matches(pattern, "u[true()]/text()") == expected
