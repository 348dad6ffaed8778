"""Times that are none are told as such, whatever they are."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, cast

import pytest

from weft import Broker, ConfigurationError, Document
from weft.documents.moment import nanoseconds


class Nowhere(tzinfo):
    """A zone that does not know its offset."""

    def utcoffset(self, _: datetime | None, /) -> timedelta | None:
        return None

    def dst(self, _: datetime | None, /) -> timedelta | None:
        return None

    def tzname(self, _: datetime | None, /) -> str | None:
        return None


@pytest.mark.parametrize(
    "time",
    [1e308, -1e308, 10**5000, Decimal("sNaN"), Decimal("NaN"), Decimal("1e999999999"), float("nan"), "1", True],
    ids=lambda time: str(type(time).__name__),
)
def test_what_is_no_time_is_refused(time: Any) -> None:
    with pytest.raises(ConfigurationError, match="timestamp: expected"):
        Document("<a/>", timestamp=time)


@pytest.mark.parametrize("name", ["lateness", "ahead"])
def test_what_is_no_length_of_time_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}: expected"):
        Broker(**cast(Any, {name: 1e308}))


def test_a_datetime_whose_zone_knows_no_offset_is_utc() -> None:
    assert nanoseconds(datetime(1970, 1, 2, tzinfo=Nowhere())) == nanoseconds(datetime(1970, 1, 2))
