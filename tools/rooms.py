"""Draw docs/plots/rooms.svg: the rooms of src/weft with their imports, and the ways of a query and a document.

Both are found out, not told: imports are read from the source, and the ways are those of a broker that runs. With
`--check` nothing is written, and the exit code tells whether the picture is up to date.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import networkx as nx

import weft

SOURCE = Path(weft.__file__).parent
PICTURE = SOURCE.parents[1] / "docs" / "plots" / "rooms.svg"
_LIBRARIES = ("durable", "errors")  # one file each, imported by all: arrows to them would hide the others
_QUERY = "<seen>{ for $c in /order/customer where $c/@name = 'Ada' return $c }</seen>"
_JOIN = "S/order[@id->i] FOLLOWED BY{i = p, 1 hour} S/payment[@for->p]"
_DOCUMENTS = ("<order id='1'><customer name='Ada'/></order>", "<payment for='1'/>")
_WIDTH, _HEIGHT, _GAP, _ROW = 118, 30, 22, 66
_STYLE = """<style>
rect { fill: #eef4fb; stroke: #36c }
path { fill: none; stroke: #9ab; stroke-width: 1.2 }
text { font: 13px sans-serif; text-anchor: middle }
.told { font-weight: bold; text-anchor: start }
</style>
<defs><marker id="to" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">
<path d="M0,0 L6,3 L0,6" style="stroke: #9ab"/></marker></defs>"""


def room_of(module: str) -> str:
    """The room of a module: the name behind `weft.`."""
    return module.split(".")[1] if "." in module else ""


def imports() -> nx.DiGraph[str]:
    """Which room imports which others; what follows from other arrows is left out."""
    found: nx.DiGraph[str] = nx.DiGraph()
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room in ("__init__", *_LIBRARIES):
            continue
        found.add_node(room)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            rooms = {room_of(name) for name in names if name.startswith("weft.")} - {room, *_LIBRARIES}
            found.add_edges_from((room, other) for other in sorted(rooms))
    reduced: nx.DiGraph[str] = nx.transitive_reduction(found)
    return reduced


def way(run: Callable[[], object]) -> list[str]:
    """The rooms that something goes through, in the order in which it first comes to them."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("weft.") and (room := room_of(module)) not in _LIBRARIES:
            seen.setdefault(room)

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return list(seen)


def ways() -> dict[str, list[str]]:
    """The ways of a query and of a document, through a broker that runs."""
    broker = weft.Broker()
    documents = [weft.Document(text, str(at), "S", at) for at, text in enumerate(_DOCUMENTS)]
    return {
        "a FLWR query": way(lambda: broker.subscribe(_QUERY)),
        "an XSCL query": way(lambda: broker.subscribe(_JOIN)),
        "a document": way(lambda: broker.publish(documents)),
    }


def draw() -> str:
    """The picture."""
    graph = imports()
    level = {room: _level(graph, room) for room in graph}
    rows = [sorted(room for room in graph if level[room] == at) for at in range(max(level.values()), -1, -1)]
    width = max(len(row) for row in rows) * (_WIDTH + _GAP)
    places = {
        room: ((width - len(row) * (_WIDTH + _GAP)) // 2 + at * (_WIDTH + _GAP), 24 + number * _ROW)
        for number, row in enumerate(rows)
        for at, room in enumerate(row)
    }
    drawn = [_arrow(places[above], places[below]) for above, below in sorted(graph.edges)]
    drawn += [_box(room, *place) for room, place in sorted(places.items())]
    top = 24 + len(rows) * _ROW
    for title, rooms in ways().items():
        drawn.append(f'<text class="told" x="4" y="{top + 14}">the way of {title}</text>')
        drawn += [_box(room, at * (_WIDTH + _GAP), top + 24) for at, room in enumerate(rooms)]
        drawn += [_step(at * (_WIDTH + _GAP), top + 24) for at in range(len(rooms) - 1)]
        width = max(width, len(rooms) * (_WIDTH + _GAP))
        top += _ROW + 10
    title = '<text class="told" x="4" y="12">the rooms: who imports whom (durable and errors serve all)</text>'
    size = f'viewBox="-4 -4 {width + 8} {top + 8}" width="{width + 8}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', _STYLE, title, *drawn, "</svg>", ""])


def _level(graph: nx.DiGraph[str], room: str) -> int:
    """How far above the lowest rooms it stands."""
    return max((1 + _level(graph, below) for below in graph.successors(room)), default=0)


def _box(room: str, x: int, y: int) -> str:
    text = f'<text x="{x + _WIDTH // 2}" y="{y + 20}">{room}</text>'
    return f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>{text}'


def _arrow(above: tuple[int, int], below: tuple[int, int]) -> str:
    start, end = (above[0] + _WIDTH // 2, above[1] + _HEIGHT), (below[0] + _WIDTH // 2, below[1] - 2)
    bend = f"C{start[0]},{start[1] + 26} {end[0]},{end[1] - 26}"
    return f'<path d="M{start[0]},{start[1]} {bend} {end[0]},{end[1]}" marker-end="url(#to)"/>'


def _step(x: int, y: int) -> str:
    return f'<path d="M{x + _WIDTH},{y + _HEIGHT // 2} h{_GAP - 3}" marker-end="url(#to)"/>'


def main() -> None:
    """Write the picture, or check it."""
    picture = draw()
    if "--check" in sys.argv[1:]:
        is_true = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture
        raise SystemExit(None if is_true else "docs/plots/rooms.svg is not up to date: run python tools/rooms.py")
    PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
