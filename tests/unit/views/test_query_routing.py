"""Which sources a query is for."""

from __future__ import annotations

import pytest

from weft.languages.xpath import parse
from weft.views.routing import is_for


@pytest.mark.parametrize(
    ("query", "root", "expected"),
    [
        ("/s/a", "s", True),
        ("/s/a", "t", False),
        ("/s/a", None, True),
        ("/*/a", "t", True),
        ("//a", "t", True),
        ("/*[not(self::s)]/a", "t", True),
        ("/s[b]/a[c]", "t", False),
        ("/s[b]/a[c]", "s", True),
        ("/s/a | /t/a", "t", True),
        ("/s/a | /t/a", "u", False),
        ("/s/a intersect //a", "t", False),
        ("/s/a except /t/a", "t", False),
        ("/s/a except /t/a", "s", True),
        ("//a except /t/a", "t", True),
        ("/p:s/a", "{urn:p}s", True),
        ("/p:s/a", "s", False),
        ("/*:s/a", "{urn:p}s", True),
    ],
)
def test_the_root_decides(query: str, root: str | None, expected: bool) -> None:
    assert is_for(parse(query, {"p": "urn:p"}), root) is expected
