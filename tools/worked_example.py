"""Three queries and one document in, every table of the core that they fill out: the worked example of ARCHITECTURE.md.

`python tools/worked_example.py` prints it, `--write` puts it into ARCHITECTURE.md; with `--check` nothing is written,
and the exit code tells whether it stands there as it is now.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.scan import scan_paths
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.index import Index
from weft.engine.paths.states import NO_STEP
from weft.engine.shared.nodes import NodeKind
from weft.engine.shared.show_nodes import NodeLines
from weft.languages.xpath import parse
from weft.plans.show import show_path

PAGE = Path(__file__).resolve().parents[1] / "ARCHITECTURE.md"
QUERIES = ("/news/title", "//title", '/news[@lang = "en"]/body')
DOCUMENT = b'<news lang="en"><title>Rain</title><body>It <b>rains</b></body></news>'
_BEGIN, _END = "<!-- worked example: begin -->", "<!-- worked example: end -->"


def tables() -> Iterator[str]:
    """The example, line by line."""
    engine = Engine()
    for number, query in enumerate(QUERIES):
        engine.add(number, parse(query))
    table = read([Document(DOCUMENT, "example")])
    matches = engine.match(table, whether=True).subscriptions()[0]
    index = engine.large
    yield from _titled("queries (subscriptions 0, 1, 2)", ("number", "query"), enumerate(QUERIES))
    yield from _titled("the document", ("bytes",), [(DOCUMENT.decode(),)])
    yield from _titled(
        "automaton: states, each with the one way in", ("state", "from", "path", "result"), _states(index)
    )
    yield from _titled("shared plan: its nodes", ("node", "kind", "at state", "what"), _nodes(index))
    yield from _titled("node table: a row a node", ("node", "kind", "name", "parent", "string-value"), _rows(table))
    yield from _titled(
        "label paths: what the automaton comes to, once each",
        ("number", "label path", "states kept", "results of its classes"),
        _label_paths(index),
    )
    yield from _titled("the same by a narrow scan", ("path of names",), _narrow())
    yield from _titled(
        "subscribers of the document's results", ("subscription",), [(each,) for each in sorted(matches)]
    )


def _states(index: Index) -> Iterator[tuple[object, ...]]:
    states, results = index.shared.states, dict(zip(index.origins.state, range(len(index.origins.state)), strict=True))
    for state in range(len(states)):
        is_loop = state > 0 and states.step[state] == NO_STEP
        path = "stays active below" if is_loop else show_path(states.path(state)) or "(the document)"
        yield state, states.above[state] if state else "", path, results.get(state, "")


def _nodes(index: Index) -> Iterator[tuple[object, ...]]:
    nodes, lines = index.shared.nodes, NodeLines(index.shared)
    for node in range(len(nodes)):
        what = "; ".join(text for _, text in lines.lines(node))
        yield node, NodeKind(nodes.kind[node]).name, nodes.state[node], what


def _rows(table: NodeTable) -> Iterator[tuple[object, ...]]:
    for node in range(table.nodes):
        if node < table.elements:
            kind, name = "element", table.names[table.name[node]]
        elif node < table.first_text:
            kind, name = "attribute", table.names[table.attribute_name[node - table.elements]]
        else:
            kind, name = "text", ""
        yield node, kind, name, table.parent[node], repr(table.string_value(node))


def _label_paths(index: Index) -> Iterator[tuple[object, ...]]:
    paths = index.plans.paths
    for path in range(1, len(paths)):
        names = "/" + "/".join(paths.names_of(path))
        yield path, names, _listed(paths.reached(path)), _listed(paths.results_at(path))


def _narrow() -> Iterator[tuple[object, ...]]:
    found = scan_paths([Document(DOCUMENT, "example")], Limits(), attributes=True, texts=False)
    known = {0: ""}
    for path in found.found.tolist():
        _, number, is_attribute = found.paths.last_name(path)
        known[path] = f"{known[found.paths.above(path)]}/{'@' * is_attribute}{found.names.names[number]}"
        yield (known[path],)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _titled(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table under its title, columns one below the other."""
    cells = [heads, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    yield title
    for row in cells:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
    yield ""


def main(arguments: list[str]) -> int:
    """Print, write or check."""
    made = f"{_BEGIN}\n```\n" + "\n".join(tables()).rstrip() + f"\n```\n{_END}"
    if not arguments:
        print(made)
        return 0
    page = PAGE.read_text()
    begin, end = page.index(_BEGIN), page.index(_END) + len(_END)
    if arguments == ["--write"]:
        PAGE.write_text(page[:begin] + made + page[end:])
        return 0
    if page[begin:end] == made:
        return 0
    print("ARCHITECTURE.md: the worked example is out of date: python tools/worked_example.py --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
