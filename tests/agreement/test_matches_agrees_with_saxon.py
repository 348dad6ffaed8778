"""Regular expressions as XPath writes them: `matches()` finds what Saxon, which knows XPath 3.1, finds."""

from collections.abc import Iterator

import pytest
from saxonche import PySaxonApiError, PySaxonProcessor, PyXPathProcessor

from oracle import table_of
from weft.engine import Engine
from weft.errors import QueryError
from weft.languages.xpath import parse

SHORT_TEXTS = r"foo 1 12 é É ٣ € - _ a.b abc aac aaa A $ ^ ² 日 x] \ { . a' x 0x1F [a] ( +"
TEXTS = [*SHORT_TEXTS.split(" "), "", " ", "\t", "\u00a0", "\n", "a\nb", "a b", "a\n", "ab\nbc"]
PATTERNS = r"""
    ^f o$ o+$ ^$ ^a*$ a?? (a|b)+c a{2} ^a{2,}$ ^a{2,3}$ a| () (?:a)b b$ ^b $ ^ . ^.$ a.b é
    \. \- \$ \^ \[a\] \( \+ \\ \{ \n \t \d ^\d+$ \D ^\w+$ \W ^\W$ \s ^\S+$
    [a-c] [^a] [é-ú] [a\-z] [\n\t] [\d-x] [\w] [^\w] [\W] [^\W] [\D] [^\D] [^\s] ^[0-9A-Fx]+$
    \p{L} \p{Lu} \P{L} \p{Nd} [\p{L}\d] [^\p{L}] ^\p{Sc}$
"""
#: RE2 reads these, in a way of its own.
NOT_XPATH = r"(?i)a (?s). (?P<name>a) \bfoo \Aa a\z \x41 \Qa.b\E []a] a] { a{ } a{,2} \p{Greek}"


def in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture(scope="module")
def saxon() -> Iterator[PyXPathProcessor]:
    with PySaxonProcessor(license=False) as processor:
        yield processor.new_xpath_processor()


def saxon_matches(saxon: PyXPathProcessor, pattern: str, texts: list[str]) -> list[str]:
    """The texts that Saxon finds; they are told by code points, so that no line end is lost."""
    told = (f"codepoints-to-string(({','.join(str(ord(letter)) for letter in text)}))" for text in texts)
    answers = f"for $text in ({', '.join(told)}) return if (matches($text, {in_quotes(pattern)})) then '1' else '0'"
    found = saxon.evaluate(f"string-join({answers})")
    return [text for text, answer in zip(texts, str(found.head), strict=True) if answer == "1"]


def weft_matches(pattern: str, subject: str, texts: list[str]) -> list[str]:
    """The texts that Weft finds, each the content of one element."""
    written = ["".join(f"&#{ord(letter)};" for letter in text) for text in texts]
    table = table_of([f"<all>{''.join(f'<t><u>{text}</u></t>' for text in written)}</all>"])
    engine = Engine()
    engine.add(0, parse(f"/all/t[matches({subject}, {in_quotes(pattern)})]"))
    return [table.string_value(node) for node in engine.match(table).nodes()[2].tolist()]


@pytest.mark.parametrize("pattern", ["", *PATTERNS.split()])
def test_a_pattern_finds_the_texts_that_saxon_finds(saxon: PyXPathProcessor, pattern: str) -> None:
    expected = saxon_matches(saxon, pattern, TEXTS)

    assert weft_matches(pattern, ".", TEXTS) == expected
    assert weft_matches(pattern, "u[true()]/text()", TEXTS) == expected


@pytest.mark.parametrize(("pattern", "text"), [(".", "\r"), (r"\W", "\u0378")])
def test_rare_characters_are_read_as_saxon_reads_them(saxon: PyXPathProcessor, pattern: str, text: str) -> None:
    expected = saxon_matches(saxon, pattern, [text])

    assert weft_matches(pattern, ".", [text]) == expected


@pytest.mark.parametrize("pattern", NOT_XPATH.split())
def test_a_pattern_that_is_none_in_xpath_is_refused(saxon: PyXPathProcessor, pattern: str) -> None:
    with pytest.raises(PySaxonApiError):
        saxon_matches(saxon, pattern, TEXTS)

    with pytest.raises(QueryError):
        parse(f"/all/t[matches(., {in_quotes(pattern)})]")
