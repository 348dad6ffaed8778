"""The DTDs that come with Weft."""

import pytest

from weft.errors import ConfigurationError
from weft.workload import SHIPPED, shipped


def test_each_shipped_dtd_has_the_root_it_is_known_by() -> None:
    assert {name: shipped(name).root for name in SHIPPED} == {
        "bibliography": "bib",
        "book": "book",
        "news": "news",
        "auction": "site",
        "health": "record",
    }


@pytest.mark.parametrize("name", SHIPPED)
def test_every_element_is_reached_from_the_root_and_every_child_is_declared(name: str) -> None:
    dtd = shipped(name)
    reached, ahead = {dtd.root}, [dtd.root]
    while ahead:
        fresh = set(dtd.children(ahead.pop())) - reached
        reached |= fresh
        ahead += fresh
    assert reached == set(dtd.names)


def test_only_the_bibliography_has_no_loop() -> None:
    with_loop = [name for name in SHIPPED if any(map(shipped(name).on_loop, shipped(name).names))]
    assert with_loop == ["book", "news", "auction", "health"]


def test_the_news_are_rich() -> None:
    assert 90 <= len(shipped("news").names) <= 120


def test_auctions_tell_their_seller_with_profile_and_their_bidders_with_zipcode() -> None:
    dtd = shipped("auction")
    assert {"reserve", "seller", "bidder"} <= set(dtd.children("open_auction"))
    assert dtd.single_path("seller", "profile") == ("person", "profile")
    assert dtd.single_path("bidder", "zipcode") == ("person", "address", "zipcode")


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="no DTD 'weather' comes with Weft, only bibliography, book"):
        shipped("weather")
