"""Generated sources, workloads, choices and updates: the query server answers what lxml finds in the documents."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from lxml import etree

from profiles import examples
from weft.views.answers import QueryAnswer
from weft.views.server import QueryServer
from weft.views.workload import WorkloadQuery, make_query, workload_of

_FILLER = "<f/>"  # is written much longer: with some of them a document is cut into regions
_LONG = f"<f>{'.' * 1_200}</f>"
_LETTERS = ("a", "a", "b", "c")


@dataclass(frozen=True)
class _Asked:
    """A query: a path, or two of them put together by what XPath 1.0 does not have."""

    left: str
    operator: str = ""
    right: str = ""

    @property
    def text(self) -> str:
        return f"{self.left} {self.operator} {self.right}".strip()


Documents = dict[str, dict[str, list[str]]]  # by source and file the children of the root
NodeSeen = tuple[str, tuple[str, ...], str]  # document, path, content


@st.composite
def elements(draw: DrawFn, depth: int = 3) -> str:
    name = draw(st.sampled_from(_LETTERS))
    attribute = draw(st.sampled_from(("", "", ' x="1"', ' x="2"')))
    inside = draw(st.sampled_from(("", "", "1", "2")))
    if depth:
        inside += "".join(draw(st.lists(elements(depth - 1), max_size=2)))
    return f"<{name}{attribute}>{inside}</{name}>"


@st.composite
def children(draw: DrawFn) -> list[str]:
    found = draw(st.lists(elements(), max_size=4))
    if draw(st.integers(0, 2)) == 0:  # a large document
        for at in range(5):
            found.insert(at * 2, _FILLER)
    return found


@st.composite
def contents(draw: DrawFn) -> Documents:
    documents = draw(st.lists(st.sampled_from(("1.xml", "2.xml", "3.xml")), min_size=1, max_size=3, unique=True))
    return {"s": {"s.xml": draw(children())}, "t": {document: draw(children()) for document in sorted(documents)}}


@st.composite
def changed(draw: DrawFn, before: Documents) -> Documents:
    """The same after some children went, came or changed, and perhaps a document."""
    after = {source: {id: list(found) for id, found in documents.items()} for source, documents in before.items()}
    for source in draw(st.sampled_from((["s"], ["t"], ["s", "t"]))):
        id = draw(st.sampled_from(sorted(after[source])))
        found = after[source][id]
        at = draw(st.integers(0, len(found)))
        match draw(st.sampled_from(("insert", "delete", "change"))):
            case "insert":
                found.insert(at, draw(elements()))
            case "delete":
                del found[at : at + 1]
            case _:
                found[at : at + 1] = [draw(elements())]
    if draw(st.integers(0, 3)) == 0:
        after["t"]["2.xml"] = draw(children())
    if len(after["t"]) > 1 and draw(st.integers(0, 3)) == 0:
        del after["t"][min(after["t"])]
    after["t"] = dict(sorted(after["t"].items()))
    return after


_STEPS = (
    "a",
    "b",
    "*",
    "a[b]",
    "*[not(a)]",
    "*[@x = 1]",
    "a[. = 1]",
    "*[not(self::b)]",
    "b[.//c]",
    "*[2]",
    "a[last()]",
)


@st.composite
def paths(draw: DrawFn) -> str:
    root = draw(st.sampled_from(("/s", "/t", "/*", "/")))
    steps = [draw(st.sampled_from(("/", "//"))) + draw(st.sampled_from(_STEPS)) for _ in range(draw(st.integers(1, 2)))]
    if root == "/":
        root, steps[0] = "", "//" + steps[0].lstrip("/")
    return root + "".join(steps) + draw(st.sampled_from(("", "", "", "", "/@x", "/text()")))


@st.composite
def queries(draw: DrawFn, known: list[str]) -> _Asked:
    """A query that has something to do with those before it."""
    left = draw(paths())
    is_related = draw(st.booleans())
    if known and is_related:
        left = draw(st.sampled_from(known)) + draw(st.sampled_from(("", "/b", "//a", "[a]", "[not(@x = 1)]")))
        if "@x/" in left or "()/" in left or "()[" in left or "@x[" in left:
            left = draw(paths())
    operator = draw(st.sampled_from(("", "", "", "|", "except", "intersect")))
    right = draw(st.sampled_from([*known, "//a", "//b"])) if operator else ""
    known.append(left)
    return _Asked(left, operator, right)


@st.composite
def cases(draw: DrawFn) -> tuple[Documents, Documents, list[_Asked], list[_Asked]]:
    before, known = draw(contents()), list[str]()
    workload = [draw(queries(known)) for _ in range(draw(st.integers(1, 4)))]
    others = [draw(queries(known)) for _ in range(2)]
    return before, draw(changed(before)), workload, others


# -- what lxml finds


def _path_of(node: Any) -> tuple[str, ...]:
    return (*(each.tag for each in [*node.iterancestors()][::-1]), node.tag)


def _seen(node: Any) -> tuple[tuple[str, ...], str]:
    if etree.iselement(node):
        return _path_of(node), etree.tostring(node, method="c14n", with_tail=False).decode()
    parent = node.getparent()
    if node.is_attribute:
        return (*_path_of(parent), f"@{node.attrname}"), str(node)
    return (*_path_of(parent.getparent() if node.is_tail else parent), "text()"), str(node)


def _key(node: Any) -> object:
    if etree.iselement(node):
        return node
    return node.getparent(), node.attrname if node.is_attribute else node.is_tail


def lxml_finds(found: list[str], source: str, asked: _Asked) -> list[tuple[tuple[str, ...], str]]:
    tree = etree.fromstring(written(source, found)).getroottree()
    left, right = tree.xpath(asked.left), tree.xpath(asked.right) if asked.right else []
    if asked.operator == "|":
        return [_seen(node) for node in tree.xpath(asked.text)]
    others = {_key(node) for node in right}
    return [_seen(node) for node in left if not asked.operator or (_key(node) in others) == (asked.operator[0] == "i")]


def expected(documents: Documents, asked: _Asked) -> dict[str, list[NodeSeen]]:
    return {
        source: [(id, *node) for id, found in files.items() for node in lxml_finds(found, source, asked)]
        for source, files in documents.items()
    }


# -- what the server finds


def written(source: str, found: list[str]) -> str:
    return f"<{source}>{''.join(found).replace(_FILLER, _LONG)}</{source}>"


def write(folder: Path, documents: Documents) -> None:
    (folder / "t").mkdir(exist_ok=True)
    for old in set((folder / "t").glob("*.xml")) - {folder / "t" / id for id in documents["t"]}:
        old.unlink()
    for source, files in documents.items():
        for id, found in files.items():
            file = folder / ("t" if source == "t" else "") / id
            if not file.exists() or file.read_text() != written(source, found):
                file.write_text(written(source, found))


def answered(answer: QueryAnswer) -> dict[str, list[NodeSeen]]:
    assert not answer.missing
    assert not answer.rejected
    found: dict[str, list[NodeSeen]] = {"s": [], "t": []}
    places = []
    for row in answer.rows.to_pylist():
        last = row["path"][-1]
        content = row["value"] if last == "text()" or last[0] == "@" else canonical(row["fragment"])
        document = Path(row["document"]).name
        found[row["source"]].append((document, tuple(row["path"]), content))
        places.append((row["source"], document, row["offset"]))
    assert places == sorted(set(places)), "each node once, in source and document order"
    return found


def canonical(fragment: str) -> str:
    text: str = etree.tostring(etree.fromstring(fragment), method="c14n").decode()
    return text


def workload_query(asked: _Asked) -> WorkloadQuery:
    return make_query(asked.text, 1.0)


def store_some(server: QueryServer, data: st.DataObject, workload: list[_Asked]) -> None:
    """What a choice of some budget could be; sometimes a query beside it, and one dropped."""
    found = server.recommend(workload_of(map(workload_query, workload)), 1e9)
    parts = range(len(found.problem.candidates))
    chosen = [at for at in parts if data.draw(st.booleans(), label=f"part {at}")]
    server.materialize(replace(found, choice=found.problem.chosen(chosen)))
    if data.draw(st.integers(0, 3), label="beside") == 0:
        server.materialize(data.draw(st.sampled_from(workload)).text)
    if data.draw(st.integers(0, 3), label="drop") == 0:
        server.drop(data.draw(st.sampled_from(sorted(view.name for view in server.views()))))


@given(st.data(), cases())
@examples(25)
def test_the_server_answers_as_the_sources_do(
    data: st.DataObject, case: tuple[Documents, Documents, list[_Asked], list[_Asked]]
) -> None:
    before, after, workload, others = case
    asked = [*workload, *others]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, before)
        with QueryServer(folder / "store") as server:
            server.add_source(folder / "s.xml")
            server.add_source(folder / "t")
            store_some(server, data, workload)
            for each in asked:
                answer = server.query(each.text)
                assert answered(answer) == expected(before, each), answer.explain()
            write(folder, after)
            for each in asked:
                old, new = expected(before, each), expected(after, each)
                answer = server.query(each.text)
                for source, rows in answered(answer).items():
                    assert rows in (old[source], new[source]), answer.explain()
                answer = server.query(each.text, fresh=True)
                assert answered(answer) == new, answer.explain()
            server.refresh()
            for each in asked:
                answer = server.query(each.text)
                assert answered(answer) == expected(after, each), answer.explain()
