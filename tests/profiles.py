"""How many examples a property gets: in proportion to what the profile gives, so that each profile means something."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL = 300  # examples of a property in the profile `weft`, which `make test` has


def examples(number: int, **others: Any) -> settings:
    """So many in the usual profile, and as many fewer or more in another as that has: `fast` a sixth, `thorough` all.

    A property whose examples are cheap asks for more than the usual number, one whose examples are dear for fewer.
    """
    default = settings.default
    assert default is not None
    return settings(max_examples=max(1, number * default.max_examples // USUAL), **others)
