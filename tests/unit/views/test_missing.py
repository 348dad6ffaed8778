"""What a source is asked for when some parts of a query are stored: all that is missing."""

from __future__ import annotations

import pytest

from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.plans.write import write_xpath
from weft.views.missing import missing_of
from weft.views.nodes import select

DOCUMENT = Document(b"<s><a>1<a x='1'>2</a></a><c><a>3</a></c><b><a>4</a></b></s>", id="1")
VIEWS = {
    "deep": "//a",
    "top": "/s/a",
    "values": "//a/text()",
    "either": "/s/a | /s/b",
    "first": "/s/*[a] except /s/c",
    "attribute": "//@x",
}


@pytest.mark.parametrize(
    ("query", "signatures", "expected"),
    [
        ("deep", [["deep"]], ["1", "2", "3", "4"]),  # those in each other are all asked for
        ("deep", [["deep", "top"]], ["1", "2"]),
        ("deep", [["either"]], ["2", "4"]),
        ("deep", [["either", "deep"]], ["1", "2", "4"]),
        ("deep", [["first"]], ["2", "3", "4"]),  # more than is missing
        ("values", [["top"]], ["1", "2"]),
        ("values", [["top"], ["first"]], ["1", "2", "3", "4"]),
        ("attribute", [["top"]], ["1"]),
        ("attribute", [["attribute", "values"]], []),
        ("deep", [["values"]], ["1", "2", "3", "4"]),  # nothing lies in texts
    ],
)
def test_what_is_asked_for_has_all_that_is_missing(
    query: str, signatures: list[list[str]], expected: list[str]
) -> None:
    selection = missing_of(query, signatures, {name: parse(text) for name, text in VIEWS.items()})

    text, namespaces = write_xpath(selection)
    [here], [there] = select("s", [DOCUMENT], [selection]).rows, select("s", [DOCUMENT], [parse(text, namespaces)]).rows

    assert here == there
    found = [row["value"] or "".join(filter(str.isdigit, row["fragment"]))[:1] for row in here.to_pylist()]
    assert found == expected
