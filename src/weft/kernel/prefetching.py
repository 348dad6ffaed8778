"""A place in memory in, nothing out: the line of the cache there is fetched while something else is done."""


def prefetch(place: object) -> None:
    """Where nothing is compiled there is nothing to fetch; `prefetching.pxd` has what compiled stages call."""
