"""Dates, dates with times, and times: which texts are one, and how they compare, is as Saxon has it.

Saxon takes a text that is no date for an error, where Weft takes the comparison for false. So Saxon is asked for those
nodes first whose values can be cast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from saxonche import PySaxonProcessor, PyXPathProcessor

from flwr_ways import WAYS, messages, with_queries
from oracle import table_of
from profiles import examples
from weft.engine import Engine
from weft.languages.xpath import parse
from weft.plans.instants import INSTANT_TYPES, instant

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
YEARS = ("2026", "2024", "2025", "1900", "2000", "0000", "-0004", "-0001", "-12345", "10000", "123456")
ZONES = ("", "", "Z", "+00:00", "-00:00", "+01:30", "-10:00", "+14:00", "-14:00", "+13:59")
CLOCKS = ("00:00:00", "23:59:59", "24:00:00", "10:00:00", "24:00:00.000", "12:30:15")
FRACTIONS = ("", "", ".5", ".500", ".000000001", ".000000002", ".999999999999")
DAYS = ("01-01", "02-28", "02-29", "03-01", "12-31", "06-15")
#: What may be wrong with a text; most of these are no dates.
CHANGES = ("", "", " ", "\n", "x", ".", "T", "-", "+", "0", "5:00", "\u00a0", "z")
_BEYOND = re.compile(r"[+-]14:(?!00)")  # a zone that Saxon takes, but XML Schema does not


@st.composite
def texts(draw: DrawFn, kind: str) -> str:
    """A text of one type, most of them right, some with white space around."""
    day, zone = f"{draw(st.sampled_from(YEARS))}-{draw(st.sampled_from(DAYS))}", draw(st.sampled_from(ZONES))
    clock = draw(st.sampled_from(CLOCKS))
    clock += "" if clock.startswith("24") else draw(st.sampled_from(FRACTIONS))
    written = {"date": day, "dateTime": f"{day}T{clock}", "time": clock}[kind] + zone
    return f" {written}\t" if draw(st.integers(0, 9)) == 9 else written


@st.composite
def any_texts(draw: DrawFn) -> str:
    """Texts of any type, many of them damaged."""
    text = draw(texts(draw(st.sampled_from(INSTANT_TYPES))))
    at = draw(st.integers(0, len(text)))
    changed = text[:at] + draw(st.sampled_from(CHANGES)) + text[at + draw(st.integers(0, 1)) :]
    return text if _BEYOND.search(changed) else changed


@pytest.fixture(scope="module")
def processor() -> Iterator[PySaxonProcessor]:
    with PySaxonProcessor(license=False) as made:
        yield made


@pytest.fixture(scope="module")
def saxon(processor: PySaxonProcessor) -> PyXPathProcessor:
    return processor.new_xpath_processor()


def told(text: str) -> str:
    """A text for Saxon by code points, so that no white space is lost."""
    return f"codepoints-to-string(({', '.join(str(ord(letter)) for letter in text)}))"


@examples(100)
@given(st.lists(any_texts(), min_size=1, max_size=40))
def test_a_text_is_a_date_where_it_is_one_for_saxon(saxon: PyXPathProcessor, some: list[str]) -> None:
    casts = (f"{told(text)} castable as xs:{kind}" for text in some for kind in INSTANT_TYPES)
    answers = [str(answer) == "true" for answer in saxon.evaluate(f"({', '.join(casts)})")]

    found = [instant(text) for text in some]

    expected = dict(zip(((text, kind) for text in some for kind in INSTANT_TYPES), answers, strict=True))
    for text, one in zip(some, found, strict=True):
        assert [kind for kind in INSTANT_TYPES if expected[text, kind]] == ([one.type] if one else []), text


@st.composite
def comparisons(draw: DrawFn) -> tuple[str, str, list[str]]:
    """A type, a constant of it, and values of any type or none."""
    kind = draw(st.sampled_from(INSTANT_TYPES))
    constant = draw(texts(kind).filter(lambda text: instant(text) is not None))
    values = st.lists(texts(kind) | texts(kind) | any_texts(), min_size=1, max_size=30)
    return kind, constant, draw(values)


def written(values: list[str]) -> str:
    return "".join(f"<t><u>{''.join(f'&#{ord(letter)};' for letter in value)}</u></t>" for value in values)


@examples(100)
@given(comparisons())
def test_xpath_selects_the_nodes_that_saxon_selects(
    processor: PySaxonProcessor, case: tuple[str, str, list[str]]
) -> None:
    kind, constant, values = case
    document = f"<all>{written(values)}</all>"
    table, engine, xpath = table_of([document]), Engine(), processor.new_xpath_processor()
    xpath.set_context(xdm_item=processor.parse_xml(xml_text=document))
    shapes = ("u {} {}", "not(u {} {})", "u[. {} {}]", "not(self::x) and u {} {}")
    tests = [shape.format(operator, f"xs:{kind}('{constant}')") for shape in shapes for operator in OPERATORS]
    for number, test in enumerate(tests):
        engine.add(number, parse(f"/all/t[{test}]"))

    found = sorted(zip(*(column.tolist() for column in engine.match(table).nodes()[1:]), strict=True))

    castable = [test.replace("u", f"u[. castable as xs:{kind}]", 1) for test in tests]
    asked = (f"string-join(/all/t[{test}]/(count(preceding-sibling::t) + 1) ! string(), ' ')" for test in castable)
    answers = [str(answer).split() for answer in xpath.evaluate(f"({', '.join(asked)})")]
    rows = [row for row in range(table.elements) if table.names[table.name[row]] == "t"]
    expected = sorted((at, rows[int(each) - 1]) for at, answer in enumerate(answers) for each in answer)
    assert found == expected


@examples(15)
@given(comparisons())
def test_every_way_to_a_flwr_message_tells_dates_as_saxon_does(
    processor: PySaxonProcessor, case: tuple[str, str, list[str]]
) -> None:
    kind, constant, values = case
    document = f"<all>{written(values)}</all>"
    queries = {
        at: f"<r>{{ for $t in /all/t where {test} return <i>{{ $t/u }}</i> }}</r>"
        for at, test in enumerate(f"$t/u {operator} xs:{kind}('{constant}')" for operator in OPERATORS)
    }
    xquery = processor.new_xquery_processor()
    xquery.set_context(xdm_item=processor.parse_xml(xml_text=document))
    expected = {}
    for number, query in queries.items():
        xquery.set_query_content(query.replace("where $t/u", f"where $t/u[. castable as xs:{kind}]"))
        expected[number] = xquery.run_query_to_string().count("<i>")

    for way in WAYS.values():
        made = messages(with_queries(way(None), queries), table_of([document]))

        assert {number: made.get((0, number), "").count("<i>") for number in queries} == expected
