"""The batches that a matcher ran in, a picture of them out as SVG: what an element took, over plans that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from weft.documents.escaping import escape_text
from weft.optimizer.algebra import ElementPlan
from weft.optimizer.element_matcher import BatchRun, ElementMatcher
from weft.optimizer.explain import step_name

_WIDTH, _HEIGHT, _LEFT, _TOP, _LINE = 900, 260, 70, 16, 16
_COLOURS = ("#eef4fb", "#fdf3e7", "#eaf6ec", "#f7ecf5", "#f3f3ee")
_MOST_DRAWN = 1_000  # points of the line


def draw_runs(matcher: ElementMatcher) -> str:
    """The plans as stripes, numbered and told below, and the nanoseconds of an element as a line above them.

    The line is cut off at four times the median: the first batch, which learns, may take far longer.
    """
    runs = matcher.runs
    plans = list(dict.fromkeys(run.plan for run in runs))
    end = runs[-1].first + runs[-1].elements if runs else 1
    usual = sorted(run.nanoseconds for run in runs)[len(runs) // 2] if runs else 1.0
    most = min(4 * usual, max((run.nanoseconds for run in runs), default=1.0))
    told = [f"{number}: {_told(matcher, plan)}" for number, plan in enumerate(plans, 1)]
    body = [*_stripes(runs, plans, end), *_scale(most, end), _line(runs, end, most)]
    below = _TOP + _HEIGHT + 44
    body += [
        f'<text class="told" x="{_LEFT}" y="{below + at * _LINE}">{escape_text(text)}</text>'
        for at, text in enumerate(told)
    ]
    height = below + len(told) * _LINE
    return _SVG.format(width=_LEFT + _WIDTH + 20, height=height, body="\n".join(body))


def _told(matcher: ElementMatcher, plan: ElementPlan) -> str:
    inside = ", ".join(step_name(matcher.tree, each) for each in sorted(plan.inside)) or "nothing"
    outside = ", then ".join(step_name(matcher.tree, each) for each in plan.order) or "nothing"
    return f"{plan.scan} pass; in: {inside}; out: {outside}"


def _stripes(runs: Sequence[BatchRun], plans: list[ElementPlan], end: int) -> Iterator[str]:
    for plan, group in groupby(runs, key=lambda run: run.plan):
        batches = list(group)
        number = plans.index(plan)
        left = _across(batches[0].first, end)
        width = _across(batches[-1].first + batches[-1].elements, end) - left
        yield (
            f'<rect x="{left:.1f}" y="{_TOP}" width="{width:.1f}" height="{_HEIGHT}" '
            f'fill="{_COLOURS[number % len(_COLOURS)]}"/>'
        )
        if width > _LINE:
            yield f'<text x="{left + 4:.1f}" y="{_TOP + 14}">{number + 1}</text>'


def _line(runs: Sequence[BatchRun], end: int, most: float) -> str:
    every = -(-len(runs) // _MOST_DRAWN) or 1
    points = (
        f"{_across(run.first + run.elements / 2, end):.1f},{_up(min(run.nanoseconds, most), most):.1f}"
        for run in runs[::every]
    )
    return f'<polyline points="{" ".join(points)}"/>'


def _scale(most: float, end: int) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        y = _up(share * most, most)
        yield f'<path d="M{_LEFT},{y:.1f} h{_WIDTH}"/>'
        yield f'<text class="scale" x="{_LEFT - 6}" y="{y + 4:.1f}">{share * most / 1e3:.3g} µs</text>'
    yield f'<text class="scale" x="{_LEFT + _WIDTH}" y="{_TOP + _HEIGHT + 18}">{end:,} elements</text>'


def _across(element: float, end: int) -> float:
    return _LEFT + _WIDTH * element / end


def _up(nanoseconds: float, most: float) -> float:
    return _TOP + _HEIGHT * (1 - nanoseconds / most)


_SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">
<style>
path {{ stroke: #ccd; fill: none }}
polyline {{ stroke: #36c; stroke-width: 1.5; fill: none }}
text {{ font: 12px sans-serif }}
.scale {{ text-anchor: end }}
</style>
{body}
</svg>
"""
