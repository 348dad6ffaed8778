"""Figures beside their goals: met or not, and nothing where nothing is known."""

import pytest
from bench.goals import Goal, goals_table


@pytest.mark.parametrize(
    ("goal", "figure", "verdict"),
    [
        (Goal("a", least=4), 4.0, "met"),
        (Goal("a", least=4), 3.99, "not met"),
        (Goal("a", most=2), 2, "met"),
        (Goal("a", most=2), 2.01, "not met"),
        (Goal("a", most=2), None, "–"),
        (Goal("a"), 7, "–"),
    ],
)
def test_a_bound_itself_is_good_enough(goal: Goal, figure: float | None, verdict: str) -> None:
    assert goal.verdict(figure) == verdict


def test_a_table_shows_figure_bound_and_verdict() -> None:
    goals = {"speed": Goal("times as fast", least=4_000), "why": Goal("reason")}

    table = goals_table(goals, {"speed": 4_500.0, "why": "lost", "more": 1})

    assert table.rows == (("times as fast", "4,500", "≥ 4,000", "met"), ("reason", "–", "–", "–"))
