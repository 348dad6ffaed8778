"""Which versions of its subscriptions a stream can go on with, by what its state has."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.broker.subscriptions import Subscription
from weft.errors import ConfigurationError
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.stream_versions import StreamVersions, plan_key

PLAIN = Subscription("plain", "/a/b")
PAIR = Subscription("pair", "S//a->x FOLLOWED BY{x = y, 1 day} S//b->y")
PUBLISHER = Subscription("made", "SELECT <b>{ $x }</b> FROM T//a->x JOIN{x = y, 1 day} T//c->y PUBLISH S")
FILE = Path("subscriptions.jsonl")


def compile(subscriptions: Path | list[Subscription], version: int) -> Compiled:
    assert isinstance(subscriptions, list)
    return compile_subscriptions(subscriptions, version=version)


@pytest.fixture
def versions(tmp_path: Path) -> StreamVersions:
    return StreamVersions(FILE, tmp_path, compile)


def test_a_stream_that_began_without_xscl_does_not_take_any(versions: StreamVersions, tmp_path: Path) -> None:
    versions.compile([PLAIN], 1)
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / "0").touch()

    for each in (versions, StreamVersions(FILE, tmp_path, compile)):
        with pytest.raises(ConfigurationError, match="expected no XSCL, for the stream began without"):
            each.compile([PLAIN, PAIR], 2)


def test_one_that_began_with_xscl_keeps_its_place_when_all_of_it_goes(versions: StreamVersions, tmp_path: Path) -> None:
    versions.compile([PLAIN, PAIR], 1)
    (tmp_path / "state").mkdir()

    for each in (versions, StreamVersions(FILE, tmp_path, compile)):
        found = each.compile([PLAIN], 2)
        assert found.joins is not None
        assert (found.joins.pairwise, found.joins.gathered) == (0, 0)
        assert each.compile([PLAIN, PAIR], 3).joins is not None


def test_what_comes_to_read_what_is_published_must_have_another_id(versions: StreamVersions) -> None:
    versions.compile([PAIR], 1)

    with pytest.raises(ConfigurationError, match="pair: with what is published now, other documents must be kept"):
        versions.compile([PAIR, PUBLISHER], 2)

    assert versions.compile([Subscription("other", PAIR.query), PUBLISHER], 2).count == 2


def test_the_plan_of_a_stream_depends_on_other_languages_only_if_something_is_published() -> None:
    keys = [
        plan_key(compile(some, 1))
        for some in ([PAIR], [PAIR, PLAIN], [PUBLISHER], [PUBLISHER, PLAIN], [PLAIN], [PUBLISHER])
    ]

    assert keys[0] == keys[1]
    assert keys[2] != keys[3]
    assert keys[2] == keys[5]
    assert keys[4] == ""
