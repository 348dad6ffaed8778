"""How questions and answers travel: questions as JSON, answers as an Arrow stream or as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weft.errors import DocumentError
from weft.views.bounds import AnswerBounds, AnswerTooLargeError
from weft.views.nodes import SCHEMA
from weft.views.sources.source import Answer, Question, read_question

ARROW, JSON_LINES = "application/vnd.apache.arrow.stream", "application/x-ndjson"
#: All responses of a served source have it, with the version of what is described here.
MARK, WIRE_VERSION = "weft-source", "1"
_ABOUT, _TOO_LARGE = b"weft", "weft-too-large"
#: The rows of all questions, each with the number of its question.
_SCHEMA = SCHEMA.insert(0, pa.field("question", pa.int32(), nullable=False))
_BATCH_ROWS = 10_000


class WireError(Exception):
    """What came is not what this module writes: the reason."""


# -- questions


def write_questions(questions: Sequence[Question], bounds: AnswerBounds | None = None) -> bytes:
    """The body of a request; with bounds, what the answer may have at most."""
    asked = [{"xpath": each.text, "namespaces": dict(each.namespaces)} for each in questions]
    most = {"nodes": bounds.max_nodes, "bytes": bounds.max_bytes} if bounds else {}
    return json.dumps({"queries": asked, "most": most}).encode()


def read_bounds(body: bytes) -> AnswerBounds:
    """What the answer to a request, which is one, may have at most."""
    most = json.loads(body).get("most", {})
    found = [most.get(unit) for unit in ("nodes", "bytes")] if isinstance(most, dict) else ["?"]
    if not all(each is None or (isinstance(each, int) and each >= 0) for each in found):
        raise WireError(f'expected "most": {{"nodes": NUMBER, "bytes": NUMBER}}, found {most!r}')
    return AnswerBounds(*found)


def write_excess(error: AnswerTooLargeError) -> dict[str, str]:
    """The header that tells how much more an answer would have."""
    return {_TOO_LARGE: f"{error.found} {error.unit}"}


def read_excess(headers: Mapping[str, str]) -> tuple[int, str] | None:
    """How many nodes, or bytes, an answer would have that was refused for that; None if it was not."""
    found, _, unit = headers.get(_TOO_LARGE, "").partition(" ")
    return (int(found), unit) if found.isdecimal() and unit in ("nodes", "bytes") else None


def read_questions(body: bytes, most: int, most_bytes: int) -> list[Question]:
    """The questions of a request; raises WireError for what is none, QueryError for what is no XPath."""
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError(f"expected JSON, found {error}") from None
    queries = values.get("queries") if isinstance(values, dict) else None
    if not isinstance(queries, list):
        raise WireError('expected {"queries": [{"xpath": TEXT, "namespaces": {PREFIX: URI}}]}')
    if len(queries) > most:
        raise WireError(f"expected at most {most} queries, found {len(queries)}")
    return [_read_question(at, query, most_bytes) for at, query in enumerate(queries)]


def _read_question(at: int, query: object, most_bytes: int) -> Question:
    text = query.get("xpath") if isinstance(query, dict) else None
    namespaces = query.get("namespaces", {}) if isinstance(query, dict) else None
    if not isinstance(text, str) or not isinstance(namespaces, dict):
        raise WireError(f"query {at}: expected a text as xpath, and namespaces by prefix")
    if not all(isinstance(uri, str) for uri in namespaces.values()):
        raise WireError(f"query {at}: expected a text for each namespace")
    if len(text.encode("utf-8", "replace")) > most_bytes:
        raise WireError(f"query {at}: expected at most {most_bytes} bytes")
    return read_question(text, namespaces)


# -- answers


def write_arrow(answer: Answer) -> bytes:
    """An answer as an Arrow stream; what is not rows is in the metadata of its schema."""
    schema = _SCHEMA.with_metadata({_ABOUT: json.dumps(_about(answer)).encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for number, rows in enumerate(answer.rows):
            numbers = pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows)
            writer.write_table(rows.add_column(0, _SCHEMA.field(0), numbers).cast(schema), _BATCH_ROWS)
    return bytes(sink.getvalue())


def write_json_lines(answer: Answer) -> bytes:
    """An answer as lines: first what is not rows, then a row each."""
    lines = [json.dumps(_about(answer))]
    for number, rows in enumerate(answer.rows):
        lines += (json.dumps({"question": number, **in_json(row)}) for row in rows.to_pylist())
    return "".join(f"{line}\n" for line in lines).encode()


def in_json(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity; the value tells it all the same."""
    return {**row, "number": row["number"] if isfinite(row["number"] or 0) else None}


def _about(answer: Answer) -> dict[str, Any]:
    rejected = [[each.document, each.line, each.column, each.offset, each.reason] for each in answer.rejected]
    return {"tokens": dict(answer.tokens), "rejected": rejected}


def read_arrow(
    source: str, body: bytes, number: int
) -> tuple[tuple[pa.Table, ...], tuple[DocumentError, ...], Mapping[str, str]]:
    """Rows, rejected documents and tokens of an answer to so many questions; raises WireError for what is none."""
    parts: list[list[pa.Table]] = [[SCHEMA.empty_table()] for _ in range(number)]
    try:
        with pa.ipc.open_stream(body) as reader:
            about = (reader.schema.metadata or {}).get(_ABOUT)
            if about is None or not reader.schema.remove_metadata().equals(_SCHEMA):
                raise WireError("expected rows of nodes, found other columns")
            for batch in reader:
                for question, rows in _divide(source, batch):
                    parts[question].append(rows)
        values = json.loads(about)
        rejected = tuple(_read_rejected(*entry) for entry in values["rejected"])
        tokens = {str(id): str(token) for id, token in values["tokens"].items()}
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise WireError(f"expected an answer as an Arrow stream: {error}") from None
    return tuple(pa.concat_tables(part) for part in parts), rejected, tokens


def _read_rejected(document: str, line: int, column: int, offset: int, reason: str) -> DocumentError:
    return DocumentError(str(document), int(line), int(column), int(offset), str(reason))


def _divide(source: str, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.Table]]:
    """The rows of a batch by question, with the source's name as it is known here."""
    batch.validate(full=True)
    if any(batch.column(at).null_count for at, field in enumerate(_SCHEMA) if not field.nullable):
        raise WireError("expected no nulls in what a node must have")
    names = pa.repeat(source, batch.num_rows)
    for number in batch["question"].unique().to_pylist():
        rows = pa.table([names, *batch.columns[2:]], SCHEMA)
        if number < 0:
            raise WireError(f"expected a question's number, found {number}")
        yield number, rows.filter(pc.equal(batch["question"], number))
