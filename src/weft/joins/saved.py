"""What joins remember in, bytes of a checkpoint out; and back, checked in every part before anything is done with it.

The bytes are a line of JSON and then the documents, each as a line of JSON and its source. Times are nanoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, BinaryIO

from weft.documents.document import Document
from weft.documents.moment import END, START, exact_seconds
from weft.joins.match.state import Numbered
from weft.joins.time.arrivals import Progress

#: Each stream's sequence numbers and timestamps.
SavedHistory = Mapping[str, tuple[list[int], list[int]]]
_LARGEST = 2**63  # beyond what columns hold


@dataclass(frozen=True, slots=True)
class Saved:
    """All that joins remember."""

    position: Any  # the producer's, as JSON has it
    progress: Progress
    sequence: int
    published: int
    history: SavedHistory
    since: Mapping[str, int]  # the first document that each query sees, by the query's id
    waiting: list[tuple[str, tuple[int, ...]]]  # a join's digest, and the sequence numbers of documents that wait
    kept: list[Numbered]
    arriving: list[Numbered]  # sequence -1: they have no place in the order yet


def write_saved(saved: Saved) -> Iterator[bytes]:
    """The bytes of a checkpoint."""
    header = {
        "position": saved.position,
        "progress": asdict(saved.progress),
        "sequence": saved.sequence,
        "published": saved.published,
        "history": saved.history,
        "since": saved.since,
        "waiting": saved.waiting,
        "documents": len(saved.kept),
        "arriving": len(saved.arriving),
    }
    yield json.dumps(header).encode() + b"\n"
    for one in (*saved.kept, *saved.arriving):
        yield from write_document(one)


def read_saved(opened: BinaryIO, size: int) -> Saved:
    """What was remembered; raises ValueError for what is not as it must be."""
    end = opened.tell() + size
    header = _object(json.loads(opened.readline()), "checkpoint")
    kept = [read_document(opened) for _ in range(_count(header, "documents"))]
    arriving = [read_document(opened) for _ in range(_count(header, "arriving"))]
    if opened.tell() != end:
        raise ValueError(f"expected {end} bytes, found the last document to end at {opened.tell()}")
    progress = _object(header.get("progress"), "progress")
    known = {one.sequence for one in kept}
    if len(known) != len(kept) or min(known, default=0) < 0:
        raise ValueError("expected documents with different sequence numbers")
    since = _object(header.get("since"), "since")
    return Saved(
        header.get("position"),
        Progress(**{each.name: _integer(progress, each.name) for each in fields(Progress)}),
        _count(header, "sequence"),
        _count(header, "published"),
        _history(_object(header.get("history"), "history")),
        {id: _count(since, id) for id in since},
        [_waiting(one, known) for one in _list(header.get("waiting"), "waiting")],
        kept,
        arriving,
    )


# -- documents


def write_document(one: Numbered) -> Iterable[bytes]:
    """A line of JSON, and the document's source."""
    document = one.document
    for name, given in (("id", document.id), ("stream", document.stream)):
        if not isinstance(given, str):
            raise ValueError(f"document {document.id!r}: expected its {name} to be text, found {given!r}")
    data = document.data
    content = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    record = {
        "id": document.id,
        "stream": document.stream,
        "dated": document.nanoseconds,
        "at": one.timestamp,
        "sequence": one.sequence,
        "arrival": one.arrival,
        "text": isinstance(data, str),
        "size": len(content),
    }
    yield json.dumps(record).encode() + b"\n"
    yield content + b"\n"


def read_document(opened: BinaryIO) -> Numbered:
    """A document that was written; raises ValueError for what is not as it must be."""
    record = _object(json.loads(opened.readline()), "document")
    id, stream = _text(record, "id"), _text(record, "stream")
    size = _count(record, "size")
    content = opened.read(size)
    if len(content) != size or opened.read(1) != b"\n":
        raise ValueError(f"document {id!r} is cut off")
    dated = None if record.get("dated") is None else exact_seconds(_moment(record, "dated"))
    if not isinstance(record.get("text"), bool):
        raise ValueError(f"text: expected true or false, found {record.get('text')!r}")
    data = content.decode("utf-8", "surrogatepass") if record["text"] else content
    sequence = _integer(record, "sequence")
    return Numbered(Document(data, id, stream, dated), _moment(record, "at"), sequence, _count(record, "arrival"))


# -- the other parts


def _history(given: Mapping[str, Any]) -> SavedHistory:
    history = {}
    for stream, columns in given.items():
        pair = [_integers(column, f"history of {stream!r}") for column in _list(columns, "history")]
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            raise ValueError(f"history of {stream!r}: expected as many sequence numbers as timestamps")
        if any(one >= other for one, other in pairwise(pair[0])) or any(a > b for a, b in pairwise(pair[1])):
            raise ValueError(f"history of {stream!r}: expected it in order")
        history[stream] = pair[0], pair[1]
    return history


def _waiting(given: object, known: set[int]) -> tuple[str, tuple[int, ...]]:
    match given:
        case [str(digest), [_, *_] as found] if known.issuperset(sequences := _integers(found, "waiting")):
            return digest, tuple(sequences)
    raise ValueError(f"waiting: expected a join and its documents, found {given!r}")


def _object(given: object, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{name}: expected an object, found {given!r}")
    return given


def _list(given: object, name: str) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"{name}: expected a list, found {given!r}")
    return given


def _text(given: Mapping[str, Any], name: str) -> str:
    found = given.get(name)
    if not isinstance(found, str):
        raise ValueError(f"{name}: expected text, found {found!r}")
    return found


def _integers(given: object, name: str) -> list[int]:
    return [_integer({name: one}, name) for one in _list(given, name)]


def _integer(given: Mapping[str, Any], name: str) -> int:
    found = given.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not -_LARGEST <= found < _LARGEST:
        raise ValueError(f"{name}: expected a whole number, found {found!r}")
    return found


def _count(given: Mapping[str, Any], name: str) -> int:
    found = _integer(given, name)
    if found < 0:
        raise ValueError(f"{name}: expected 0 or more, found {found}")
    return found


def _moment(given: Mapping[str, Any], name: str) -> int:
    found = _integer(given, name)
    if not START < found < END:
        raise ValueError(f"{name}: expected a time, found {found}")
    return found
