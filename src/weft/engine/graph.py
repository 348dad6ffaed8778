"""Lines of a plan in, a graph out: in Graphviz's language, or drawn as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.documents.escaping import escape_text
from weft.plans.show import Line


def graph(lines: Sequence[Line]) -> str:
    """What runs, for Graphviz: what feeds a box points to it."""
    return "\n".join(["digraph plan {", '  rankdir=BT; node [shape=box, fontname="sans-serif"];', *_body(lines), "}"])


def drawing(lines: Sequence[Line]) -> str:
    """The same as SVG: a box for each line, what feeds it below and to the right."""
    width = max(depth * _INDENT + len(text) * 7.2 + 24 for depth, text in lines)
    above: list[int] = []
    drawn = []
    for number, (depth, text) in enumerate(lines):
        x, y = depth * _INDENT, number * _LINE
        del above[depth:]
        if above:
            start = above[-1] * _LINE + _BOX
            drawn.append(f'<path d="M{x - _INDENT + 12},{y + _BOX // 2} V{start}" marker-end="url(#to)"/>')
            drawn.append(f'<path d="M{x},{y + _BOX // 2} H{x - _INDENT + 12}"/>')
        above.append(number)
        drawn.append(f'<rect x="{x}" y="{y}" width="{len(text) * 7.2 + 16:.0f}" height="{_BOX}" rx="3"/>')
        drawn.append(f'<text x="{x + 8}" y="{y + 16}">{escape_text(text)}</text>')
    return _SVG.format(width=width, height=len(lines) * _LINE, body="\n".join(drawn))


_INDENT, _LINE, _BOX = 28, 32, 22
_SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 {width:.0f} {height}" width="{width:.0f}">
<style>
rect {{ fill: #eef4fb; stroke: #36c }}
path {{ fill: none; stroke: #36c }}
text {{ font: 12px monospace }}
</style>
<defs>
<marker id="to" markerWidth="6" markerHeight="6" refX="5" refY="3" orient="auto"><path d="M0,0 L6,3 L0,6"/></marker>
</defs>
{body}
</svg>"""


def indented(text: str) -> list[Line]:
    """Text whose lines are indented by two spaces for each level, as lines with their depths."""
    return [((len(line) - len(line.lstrip())) // 2, line.strip()) for line in text.splitlines()]


def _body(lines: Iterable[tuple[int, str]]) -> Iterable[str]:
    above: list[int] = []
    for number, (depth, text) in enumerate(lines):
        label = text.replace("\\", "\\\\").replace('"', '\\"')
        yield f'  n{number} [label="{label}"];'
        del above[depth:]
        if above:
            yield f"  n{number} -> n{above[-1]};"
        above.append(number)
