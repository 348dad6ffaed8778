"""Our points in, rows out that set what the paper's text says of its figures beside them.

The paper's figures are pictures; what stands here are the numbers that its text gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.joins.arena import Standing
from bench.table import compact

Points = list[tuple[float, Standing]]
_YFILTER_US = 15e6 / 225_000  # 15 seconds for the whole stream


def compare(feed: list[Standing], points: Callable[[int], Points]) -> Iterator[tuple[str, str, str]]:
    """What is compared, what the paper says, and what we found; what a quick run cannot tell is left out."""
    yield from _sizes(8, "two levels", "more than two orders of magnitude", points(8))
    yield from _leaves(points(9))
    yield from _skew(10, "two levels", "one half", points(10))
    yield from _skew(13, "three levels", "less, by more than templates", points(13))
    yield from _sizes(11, "three levels", "two orders of magnitude", points(11))
    first, last = _ends(points(11))
    yield "Figure 11: number of templates, fewest and most queries", "6, 22", _templates([first, last])
    yield (
        f"Figure 12: number of templates, K = {_values(points(12))}",
        "2, 6, 20, 39 for 2 to 5",
        _templates(points(12)),
    )
    for figure, source, levels in ((14, 8, "two"), (15, 11, "three")):
        _, (number, one) = _ends(points(source))
        gain = _ratio(one.us("none"), one.us("materialized"))
        yield (
            f"Figure {figure}: gain by views, {levels} levels, {number:,.0f} queries, times",
            "great, more at three levels",
            gain,
        )
    yield from _stream(feed)


def _sizes(figure: int, levels: str, says: str, points: Points) -> Iterator[tuple[str, str, str]]:
    number, one = points[-1]
    for way, name in (("none", "templates"), ("fast", "Weft")):
        gain = _ratio(one.us("sequential"), one.us(way))
        what = f"Figure {figure}: {name} over one by one, {levels}, {number:,.0f} queries, times"
        yield what, says if way == "none" else "–", gain


def _leaves(points: Points) -> Iterator[tuple[str, str, str]]:
    first, last = _ends(points)
    for way, name in (("none", "templates"), ("sequential", "one by one"), ("fast", "Weft")):
        says = "–" if way == "fast" else "about 6, 12 over 4"
        yield f"Figure 9: time of {name}, {last[0]:g} leaves over {first[0]:g}, times", says, _growth(first, last, way)


def _skew(figure: int, levels: str, says: str, points: Points) -> Iterator[tuple[str, str, str]]:
    first, last = _ends(points)
    if first == last:
        return
    between = f"{levels}, Zipf {last[0]:g} over {first[0]:g}, times"
    yield f"Figure {figure}: time of one by one, {between}", says, _growth(first, last, "sequential")
    yield f"Figure {figure}: time of templates, {between}", "little change", _growth(first, last, "none")


def _stream(feed: list[Standing]) -> Iterator[tuple[str, str, str]]:
    yield "Figure 16: number of templates", "5", str(feed[-1].templates)
    many = [(float(one.queries), one) for one in feed if one.queries >= 10_000]
    if len(many) > 1:
        first, last = _ends(many)
        between = f"{last[0]:,.0f} queries over {first[0]:,.0f}, times"
        yield f"Figure 16: time of templates, {between}", "flat", _growth(first, last, "none")
        yield f"Figure 16: time of Weft, {between}", "–", _growth(first, last, "fast")
    yield "Section 6.3: first stage, µs an item (YFilter)", compact(_YFILTER_US), compact(feed[-1].us("witness"))


def _ends(points: Points) -> tuple[tuple[float, Standing], tuple[float, Standing]]:
    return points[0], points[-1]


def _growth(first: tuple[float, Standing], last: tuple[float, Standing], way: str) -> str:
    return _ratio(last[1].us(way), first[1].us(way))


def _ratio(one: float | None, other: float | None) -> str:
    return compact(one / other if one and other else None)


def _templates(points: Points) -> str:
    return ", ".join(str(one.templates) for _, one in points)


def _values(points: Points) -> str:
    return ", ".join(f"{value:g}" for value, _ in points)
