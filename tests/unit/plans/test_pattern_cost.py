"""What a pattern may cost: how many positions it has, and how many are open whatever came before."""

import pytest

from weft.plans.pattern_cost import positions, worst_alone, worst_together


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", (0, 0)),
        ("plain", (5, 0)),
        ("^foo|bar$", (6, 0)),
        ("[ab]c", (2, 1)),
        (r"[\]a]c\[", (3, 1)),
        (r"\p{Nd}{3}", (3, 3)),
        ("a[bc]{3}d", (5, 3)),
        ("a{2,}", (3, 3)),
        ("a{0}", (1, 1)),
        ("ab*c", (3, 1)),
        ("a(?:bc|d)e", (5, 3)),
        ("(a[bc]{2}){4}", (12, 12)),
        ("(x{1,30}){1,30}", (900, 900)),
    ],
)
def test_positions_are_counted_with_their_repetitions(pattern: str, expected: tuple[int, int]) -> None:
    assert positions(pattern) == expected


def test_a_pattern_with_few_open_positions_is_quick_alone_and_not_in_a_set() -> None:
    assert worst_alone("foo.*bar", 10) < 10 < worst_together("foo.*bar", 10)
    assert worst_alone("a[ab]{20}c", 26) == worst_together("a[ab]{20}c", 26)
