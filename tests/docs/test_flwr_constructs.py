"""Each construct in the table of docs/flwr.md is taken as it says there, and means what Saxon says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from saxonche import PySaxonProcessor

from weft.languages import parse
from weft.languages.xquery.primaries import ARITIES
from weft.plans.lone_query import LoneQuery
from xquery_oracle import Asked, broker_with, differences, saxon_items, weft_items

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "flwr.md").read_text()
ROW = re.compile(r"^\| (.+?) \| `(.+)` \| (alone.*) \|$", re.MULTILINE)
CONSTRUCTS = {row[1]: row[2].replace("\\|", "|") for row in ROW.finditer(PAGE)}
DOCUMENT = (
    "<bib><book year='1999'><title>Warp</title><author/><author/><price>12</price></book>"
    "<book year='2004'><title>Weft</title><author/><price>18</price></book>"
    "<book year='2010'><title>Silk</title><author/><price>80</price></book></bib>"
)


@pytest.fixture(scope="module")
def saxon() -> Iterator[PySaxonProcessor]:
    with PySaxonProcessor(license=False) as processor:
        yield processor


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_of_the_table_is_worked_out_alone_and_has_saxon_s_answer(
    saxon: PySaxonProcessor, construct: str
) -> None:
    query = CONSTRUCTS[construct]
    prolog, mark, body = query.rpartition("; ") if query.startswith("declare") else ("", "", query)
    asked = {0: Asked(prolog + mark, body)}

    found, refused = weft_items(broker_with(asked), [DOCUMENT])

    assert isinstance(parse(query, "xquery"), LoneQuery)
    assert found
    told = differences(saxon_items(saxon, [DOCUMENT], asked), found, refused, asked, [DOCUMENT])
    assert not told, told[0]


def test_the_table_has_all_constructs_and_the_page_all_functions() -> None:
    functions = re.search(r"^Functions: (.+?); and", PAGE, re.MULTILINE | re.DOTALL)

    assert len(CONSTRUCTS) == PAGE.count("| alone")
    assert len(CONSTRUCTS) > 25
    assert functions is not None
    assert re.findall(r"`([^`]+)`", functions[1]) == sorted(ARITIES)
