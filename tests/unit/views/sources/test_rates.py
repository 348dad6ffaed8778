"""What answers took in, rates out: those that the answers were made with."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.errors import ConfigurationError
from weft.views.sources.rates import Cost, Observed, Rate, Rates, observed_from_json, rates_from_json


def costs(
    number: int, processing: float, transmission: float, latency: float, noise: float = 0.0, seed: int = 1
) -> list[Cost]:
    draw = random.Random(seed)
    made = []
    for _ in range(number):
        size = draw.randint(100, 1_000_000)
        late = 1 + noise * draw.random()
        made.append(Cost(size, size / processing * late, latency * late + size / transmission * late))
    return made


def test_rates_are_those_that_answers_were_made_with() -> None:
    rates = Observed().add(*costs(20, 1e6, 5e5, 0.02)).rates()

    assert rates.processing is not None
    assert rates.transmission is not None
    assert rates.latency is not None
    assert rates.processing.mean == pytest.approx(1e6)
    assert rates.transmission.mean == pytest.approx(5e5)
    assert rates.latency.mean == pytest.approx(0.02)
    assert rates.processing.observations == 20
    assert rates.processing.spread == pytest.approx(0, abs=1)


def test_some_answers_that_are_very_late_do_not_hide_the_latency() -> None:
    observed = Observed().add(*costs(40, 1e6, 5e5, 0.02, noise=0.1))
    for at in (3, 11, 17, 25, 33):
        late = observed.costs[at]
        observed = observed.add(Cost(late.size, late.processing, late.transmission + 5))

    latency = observed.rates().latency

    assert latency is not None
    assert latency.mean == pytest.approx(0.02, rel=0.3)


def test_the_spread_tells_how_sure_a_rate_is() -> None:
    steady = Observed().add(*costs(30, 1e6, 5e5, 0.02, noise=0.05)).rates().processing
    unsteady = Observed().add(*costs(30, 1e6, 5e5, 0.02, noise=2)).rates().processing

    assert steady is not None
    assert unsteady is not None
    assert steady.spread / steady.mean < 0.05 < unsteady.spread / unsteady.mean
    assert unsteady.lower(2) < unsteady.lower(1) < unsteady.lower(0) == unsteady.mean < unsteady.upper(1)


def test_what_was_long_ago_fades() -> None:
    observed = Observed().add(*costs(40, 1e6, 5e5, 0.02)).add(*costs(60, 1e5, 5e5, 0.02))

    rate = observed.rates().processing

    assert rate is not None
    assert rate.mean == pytest.approx(1e5, rel=0.1)
    assert len(observed.costs) == 64
    assert observed.total == 100


def test_what_is_unknown_is_none() -> None:
    assert Observed().rates() == Rates()
    empty = Observed().add(Cost(0, 0.001, 0.02)).rates()
    assert (empty.processing, empty.transmission) == (None, None)
    assert empty.latency is not None  # all that an empty answer takes on the way
    assert empty.latency.mean == 0.02
    alike = Observed().add(Cost(1000, 0.1, 0.2), Cost(1001, 0.1, 0.2)).rates()
    assert alike.latency is None
    assert alike.transmission is not None
    assert Rates().seconds(10) is None


def test_an_answer_that_took_no_time_makes_no_rate_infinite() -> None:
    rates = Observed().add(Cost(10, 0.0, 0.0)).rates()

    assert rates.processing is not None
    assert rates.processing.mean == pytest.approx(1e7)


def test_time_by_rates_is_that_of_the_cost_model() -> None:
    assert Rates(Rate(1e6), Rate(5e5), Rate(0.02)).seconds(1_000_000) == pytest.approx(3.02)
    slow = Rates(Rate(1e6, 5e5, 9), Rate(5e5), Rate(0.02)).seconds(1_000_000, margin=1)
    assert slow == pytest.approx(1.5 + 2 + 0.02)


def test_given_rates_are_before_others() -> None:
    given, others = Rates(processing=Rate(1.0)), Rates(Rate(2.0), Rate(3.0))

    assert given.otherwise(others) == Rates(Rate(1.0), Rate(3.0))
    assert given.otherwise(None) == given


@pytest.mark.parametrize("mean", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_is_positive(mean: float) -> None:
    with pytest.raises(ConfigurationError, match="expected a positive number"):
        Rate(mean)


sizes, times = st.integers(0, 10**9), st.floats(0, 1e4)


@examples(200)
@given(st.lists(st.builds(Cost, sizes, times, times), max_size=80))
def test_whatever_was_observed_has_rates_that_are_remembered(made: list[Cost]) -> None:
    observed = Observed().add(*made)
    rates = observed.rates()

    assert observed_from_json(json.loads(json.dumps(observed.to_json()))) == observed
    assert rates_from_json(json.loads(json.dumps(rates.to_json()))) == rates


@pytest.mark.parametrize("values", [{"costs": [[1]], "total": 1}, {"total": 1}, {"costs": 3, "total": 1}])
def test_observations_that_are_none_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="observations"):
        observed_from_json(values)


@pytest.mark.parametrize("values", [{"speed": [1, 0, 0]}, {"processing": 3}, {"processing": ["x", 0, 0]}])
def test_rates_that_are_none_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="rates"):
        rates_from_json(values)
