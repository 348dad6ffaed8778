"""How many examples a property gets: in proportion to what the profile gives, so that each profile means something."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL = 150  # examples of a property in the profile `weft`, which `make test` has


def rounds(number: int) -> int:
    """So many in the usual profile; in others in proportion: `fast` has a tenth of it, `thorough` far more."""
    default = settings.default
    assert default is not None
    return max(1, number * default.max_examples // USUAL)


def examples(number: int, **others: Any) -> settings:
    """The settings of a property; cheap examples may be more than the usual number, dear ones fewer."""
    return settings(max_examples=rounds(number), **others)
