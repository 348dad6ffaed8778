"""A broker under a load that is made to fill its memory, in small: `make soak` runs it for long."""

import pytest

from fuzz.soak import Load, Samples

pytestmark = pytest.mark.slow


def test_after_a_while_a_broker_takes_no_more_memory() -> None:
    load, seen = Load(seed=7), Samples()

    for number in range(40):
        for _ in range(10):
            load.round()
        seen.take(number)

    assert load.changes > 3_000
    assert min(load.documents, load.messages) > 5_000
    assert load.rejected > 500
    assert seen.growth(seen.objects) < 0.05, seen.objects
    assert seen.growth(seen.megabytes) < 0.05, seen.megabytes


def test_what_grows_is_seen() -> None:
    seen = Samples([float(at) for at in range(20)], [100.0 + at for at in range(20)], [1_000] * 20)

    assert seen.growth(seen.megabytes) == pytest.approx(9 / 114.5)
    assert seen.growth(seen.objects) == pytest.approx(0.0, abs=1e-9)
