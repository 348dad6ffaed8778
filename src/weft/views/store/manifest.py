"""What a store holds, as one sealed file a version: views, the parts that they are made of, and their sources."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

from weft.durable import Seal
from weft.languages.xpath import parse
from weft.plans.plan import Selection

SEAL = Seal("views", 1, "remove it: the version before is there then, or none, and the views can be materialized again")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the store: its name there, its bytes, its rows, and the checksum of all of it.

    Where parts share a file, `own` is how many of the rows are those of the part that names it. What a refresh writes
    is one file: `group` tells which of its row groups has the part.
    """

    name: str
    bytes: int
    rows: int
    checksum: str
    own: int | None = None
    group: int | None = None

    @property
    def part_rows(self) -> int:
        """The rows of the part that names it."""
        return self.rows if self.own is None else self.own


@dataclass(frozen=True, slots=True)
class ViewEntry:
    """A query that is known here, as XPath; it `requires` all parts, by id, that its answers are made of.

    `is_kept` is false for one that was dropped: other views' parts still tell which of their nodes it has.
    """

    name: str
    text: str
    namespaces: tuple[tuple[str, str], ...] = ()
    frequency: float = 1.0
    requires: tuple[str, ...] = ()
    is_kept: bool = True

    @property
    def selection(self) -> Selection:
        """The query as a plan."""
        return parse(self.text, namespaces=dict(self.namespaces))


@dataclass(frozen=True, slots=True)
class PieceEntry:
    """The nodes of a part that are in the answers of the same views: which these are, how many nodes, their bytes."""

    signature: tuple[str, ...]
    nodes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PartEntry:
    """A part of views at one source; without files it is known, but not stored.

    A refresh adds a file with what is new. `rows` are those that count; the files may have others, of regions that
    the source has no more (see weft.views.store.places). Nor are `pieces` taken back that such regions had; None where
    it is not known which there are.
    """

    id: str
    source: str
    signature: tuple[str, ...]
    definition: str = ""
    rows: int = 0
    files: tuple[FileEntry, ...] | None = None
    pieces: tuple[PieceEntry, ...] | None = None

    @property
    def bytes(self) -> int:
        """Its size on disk; of files that it shares, its share by rows."""
        return round(sum(file.bytes * file.part_rows / max(file.rows, 1) for file in self.files or ()))


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source as it was when its parts were brought up to date, with its documents and their regions in two files."""

    name: str
    location: str
    refreshed: float
    documents: FileEntry
    regions: FileEntry
    next_region: int  # the number of the first region that is new


@dataclass(frozen=True)
class Manifest:
    """One version of what a store holds."""

    number: int
    created: float
    budget: int | None
    views: tuple[ViewEntry, ...] = ()
    parts: tuple[PartEntry, ...] = ()
    sources: tuple[StoredSource, ...] = ()

    @cached_property
    def part_of(self) -> dict[str, PartEntry]:
        """The parts by id."""
        return {part.id: part for part in self.parts}

    @cached_property
    def source_of(self) -> dict[str, StoredSource]:
        """The sources by name."""
        return {source.name: source for source in self.sources}

    @cached_property
    def view_of(self) -> dict[str, ViewEntry]:
        """The views by name."""
        return {view.name: view for view in self.views}

    @property
    def stored(self) -> frozenset[str]:
        """The parts that are stored, by id."""
        return frozenset(part.id for part in self.parts if part.files is not None)

    @property
    def size(self) -> int:
        """The bytes of all parts on disk, with what tells where their regions are."""
        return sum(file.bytes for file in self.files())

    def files(self) -> Iterable[FileEntry]:
        """All files that it needs, each once."""
        yield from {file.name: file for part in self.parts for file in part.files or ()}.values()
        for source in self.sources:
            yield from (source.documents, source.regions)

    @cached_property
    def _required(self) -> dict[str, dict[str, tuple[PartEntry, ...]]]:
        """By view and source the parts."""
        found: dict[str, dict[str, tuple[PartEntry, ...]]] = {}
        for view in self.views:
            by_source: dict[str, list[PartEntry]] = {}
            for part in (self.part_of[each] for each in view.requires):
                by_source.setdefault(part.source, []).append(part)
            found[view.name] = {source: tuple(parts) for source, parts in by_source.items()}
        return found

    @cached_property
    def stored_at(self) -> dict[str, frozenset[str]]:
        """By source the views that are kept, and all of whose nodes there are here."""
        kept = [view.name for view in self.views if view.is_kept]
        return {each: frozenset(view for view in kept if self.is_stored(view, each)) for each in self.source_of}

    def required(self, view: str, source: str) -> tuple[PartEntry, ...]:
        """The parts of a view at a source."""
        return self._required[view].get(source, ())

    def is_stored(self, view: str, source: str) -> bool:
        """Whether all nodes of a view at a source are here."""
        return source in self.source_of and all(part.files is not None for part in self.required(view, source))


def write_manifest(manifest: Manifest) -> str:
    """A manifest as JSON, a line for each entry."""
    found = {each.name: getattr(manifest, each.name) for each in fields(manifest)}
    lists = {name: value for name, value in found.items() if isinstance(value, tuple)}
    told = [f"{_json(name)}: {_json(value)}" for name, value in found.items() if name not in lists]
    for name, entries in lists.items():
        lines = ",\n  ".join(_json(asdict(entry)) for entry in entries)
        told.append(f"{_json(name)}: [\n  {lines}]")
    return "{" + ",\n ".join(told) + "}\n"


def read_manifest(text: bytes) -> Manifest:
    """A manifest from its JSON."""
    found = json.loads(text)
    views = tuple(_made(ViewEntry, each) for each in found.pop("views"))
    parts = tuple(_made(PartEntry, each) for each in found.pop("parts"))
    sources = tuple(_made(StoredSource, each) for each in found.pop("sources"))
    return Manifest(
        views=tuple(replace(view, namespaces=tuple(map(tuple, view.namespaces))) for view in views),
        parts=tuple(replace(part, files=_files(part.files), pieces=_pieces(part.pieces)) for part in parts),
        sources=tuple(
            replace(each, documents=FileEntry(**_dict(each.documents)), regions=FileEntry(**_dict(each.regions)))
            for each in sources
        ),
        **found,
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _made(kind: type[Any], found: dict[str, Any]) -> Any:
    """An entry of what JSON has of it: its lists are tuples."""
    given = {each.name: found[each.name] for each in fields(kind) if each.name in found}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})


def _files(found: tuple[Any, ...] | None) -> tuple[FileEntry, ...] | None:
    return None if found is None else tuple(FileEntry(**each) for each in found)


def _pieces(found: tuple[Any, ...] | None) -> tuple[PieceEntry, ...] | None:
    made = (PieceEntry(tuple(each["signature"]), each["nodes"], each["bytes"]) for each in found or ())
    return None if found is None else tuple(made)


def _dict(found: Any) -> dict[str, Any]:
    return dict(found)
