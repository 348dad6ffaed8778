"""Joins in, a file out from which other joins with the same queries go on; and back.

The file has a line of JSON and then the documents, each as a line of JSON and its bytes. Witnesses are not in it: they
are made again from the documents, so a file serves later versions too. Queries are told by their ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from weft.documents.build import read
from weft.documents.document import Document
from weft.durable import write_atomically
from weft.errors import ConfigurationError
from weft.joins.arrivals import Arrival
from weft.joins.joins import Joins
from weft.joins.shapes import Shape
from weft.joins.state import Numbered
from weft.plans.xscl import Xscl

_FORMAT = 1
_CHUNK = 64  # documents that are read at once


def save(joins: Joins, file: Path, ids: Mapping[str, int], position: Any = None) -> None:
    """Write all that joins remember; `ids` has the numbers of queries by their ids, `position` is anything JSON has."""
    kept = {one.sequence: one for one in joins.state}
    waiting = list(joins.absences)
    kept.update((one.sequence, one) for _, documents in waiting for one in documents)
    digests: dict[Shape, str] = {shape: digest(plan) for plan, shape in joins.plans()}
    arriving = list(joins.arrivals)
    header = {
        "format": _FORMAT,
        "position": position,
        "watermark": joins.arrivals.watermark,
        "latest": joins.arrivals.latest,
        "late": joins.late,
        "number": joins.arrivals.number,
        "sequence": joins.state.sequence,
        "published": joins.published,
        "history": joins.state.history,
        "since": {id: joins.since(number) for id, number in ids.items()},
        "waiting": [
            [digests[entry.shape], [one.sequence for one in documents]]
            for entry, documents in waiting
            if entry.shape in digests
        ],
        "documents": len(kept),
        "arriving": len(arriving),
    }

    def pieces() -> Iterator[bytes]:
        yield json.dumps(header).encode() + b"\n"
        for _, one in sorted(kept.items()):
            yield from _written(*one.numbered)
        for arrival in arriving:
            yield from _written(arrival.document, arrival.timestamp, -1, arrival.number)

    write_atomically(file, pieces())


def load(joins: Joins, file: Path, ids: Mapping[str, int]) -> Any:
    """Go on where the joins that wrote the file were; the position that was given then comes back.

    The joins must be new but for their queries. One that the file does not know sees the documents from now on.
    """
    if joins.arrivals.number:
        raise ConfigurationError(f"{file}: expected joins that no document has come to yet")
    try:
        with file.open("rb") as opened:
            header = dict(json.loads(opened.readline()))
            if header.get("format") != _FORMAT:
                raise ValueError(f"expected format {_FORMAT}, found {header.get('format')}")
            _restore(joins, header, _read(opened, header["documents"] + header["arriving"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{file}: not a checkpoint of joins: {error}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}") from None
    for id, number in ids.items():
        joins.set_since(number, header["since"].get(id, joins.arrivals.number))
    return header["position"]


def digest(plan: Xscl) -> str:
    """What tells a plan from others, in any process."""
    return blake2b(repr(plan).encode(), digest_size=16).hexdigest()


def _restore(joins: Joins, header: dict[str, Any], records: list[tuple[dict[str, Any], Document]]) -> None:
    numbered = [Numbered(document, one["at"], one["sequence"], one["arrival"]) for one, document in records]
    kept, arriving = numbered[: header["documents"]], numbered[header["documents"] :]
    held = {
        one.sequence: one
        for start in range(0, len(kept), _CHUNK)
        for one in joins.hold_again(kept[start : start + _CHUNK])
    }
    joins.state.restore(header["sequence"], header["history"])
    joins.published = header["published"]
    shapes = {digest(plan): shape for plan, shape in joins.plans()}
    for key, sequences in header["waiting"]:
        if key in shapes:
            joins.absences.wait(joins.queries.entries[shapes[key]], tuple(held[at] for at in sequences))
    table = read([one.document for one in arriving], joins.limits)
    witnesses = joins.stage.read(table)
    waiting = [Arrival(one.document, one.timestamp, witnesses, at, one.arrival) for at, one in enumerate(arriving)]
    joins.arrivals.restore(header["watermark"], header["latest"], header["late"], header["number"], waiting)


def _written(document: Document, timestamp: float, sequence: int, arrival: int) -> Iterable[bytes]:
    data = document.data
    content = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    record = {
        "id": document.id,
        "stream": document.stream,
        "timestamp": document.timestamp,
        "at": timestamp,
        "sequence": sequence,
        "arrival": arrival,
        "text": isinstance(data, str),
        "size": len(content),
    }
    yield json.dumps(record).encode() + b"\n"
    yield content + b"\n"


def _read(opened: BinaryIO, number: int) -> list[tuple[dict[str, Any], Document]]:
    records = []
    for _ in range(number):
        record = json.loads(opened.readline())
        content = opened.read(record["size"])
        if len(content) != record["size"] or opened.read(1) != b"\n":
            raise ValueError(f"document {record['id']} is cut off")
        data = content.decode("utf-8", "surrogatepass") if record["text"] else content
        records.append((record, Document(data, record["id"], record["stream"], record["timestamp"])))
    return records
