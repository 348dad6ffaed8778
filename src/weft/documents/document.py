"""What producers publish: bytes or text with an id, a stream and a timestamp, and the limits they must keep."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import count, islice
from typing import Any, Literal, get_args

from weft.documents.moment import Moment, nanoseconds
from weft.errors import ConfigurationError

DoctypePolicy = Literal["ignore-external", "reject"]
EntityPolicy = Literal["reject", "keep", "drop"]


@dataclass(frozen=True, slots=True)
class Document:
    """An XML document: its source, and who, where and when it is.

    >>> Document("<a/>", id="first").stream
    ''
    """

    data: bytes | str
    id: str = ""
    stream: str = ""
    timestamp: Moment | None = None  # seconds since 1970 or a datetime, as given
    header: bytes | None = field(default=None, repr=False)  # byte offsets of views in it (see weft.headers)
    traceparent: str | None = field(default=None, repr=False)  # of its trace, as its messages have it
    nanoseconds: int | None = field(init=False, repr=False, compare=False)  # the same, exactly

    def __post_init__(self) -> None:
        moment = None if self.timestamp is None else nanoseconds(self.timestamp)
        object.__setattr__(self, "nanoseconds", moment)

    def with_header(self, header: bytes | None) -> Document:
        """The same document with another header, or none; what its timestamp comes to is not worked out again."""
        made = _made(self.data, self.id)
        _put_stream(made, self.stream)
        _put_timestamp(made, self.timestamp)
        _put_header(made, header)
        _put_traceparent(made, self.traceparent)
        _put_nanoseconds(made, self.nanoseconds)
        return made


def _made(data: bytes | str, id: str) -> Document:
    """What `Document(data, id)` makes: some do little else for very many, and that takes three times as long."""
    made = object.__new__(Document)
    _put_data(made, data)
    _put_id(made, id)
    _put_stream(made, "")
    _put_timestamp(made, None)
    _put_header(made, None)
    _put_traceparent(made, None)
    _put_nanoseconds(made, None)
    return made


_put_data, _put_id, _put_stream, _put_timestamp, _put_header, _put_traceparent, _put_nanoseconds = (
    Document.__dict__[each.name].__set__ for each in fields(Document)
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document and a query may be at most. What is more is refused, and everything else goes on.

    A document that breaks a limit is rejected. `doctype` is the policy for a `<!DOCTYPE …>`: `"reject"` refuses every
    document that has one; `"ignore-external"` reads internal declarations (entities within expat's amplification
    limit) and never fetches anything. `undeclared_entities` is the policy for a reference whose declaration, if there
    is one, is outside the document: `"reject"` the document, `"keep"` the reference as text, `"drop"` it.

    A query that breaks a limit is refused when it is subscribed. What it would make of one document beyond
    `max_messages` and `max_message_bytes`, and what a document would bring out beyond `max_output_bytes`, is not made:
    a MessageError tells so, and all other messages are delivered.
    """

    max_bytes: int = 64 * 1024 * 1024
    max_depth: int = 1_000
    max_attributes: int = 1_000  # of one element, with its namespace declarations
    max_nodes: int = 5_000_000
    max_members: int = 100_000  # of one archive
    max_ratio: int = 1_000  # what a compressed file may hold, as a multiple of its size, beyond the first 16 MiB
    max_output_bytes: int = 256 * 1024 * 1024  # of all fragments and messages that a document brings out, each once
    doctype: DoctypePolicy = "ignore-external"
    undeclared_entities: EntityPolicy = "reject"
    max_query_bytes: int = 64 * 1024
    max_query_nesting: int = 50
    max_query_states: int = 10_000  # steps of all its paths
    max_messages: int = 1_000_000  # nodes or bindings that a query may have in one document
    max_joined: int = 100_000  # messages that a join may make with one new document
    max_message_bytes: int = 64 * 1024 * 1024  # that a query may make of one document
    max_steps: int = 5_000_000  # of a query that is worked out alone, in one document

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self) if each.name.startswith("max_")):
            if (value := getattr(self, name)) < 1:
                raise ConfigurationError(f"Limits.{name}: expected a positive number, found {value}")
        for name, policies in (("doctype", get_args(DoctypePolicy)), ("undeclared_entities", get_args(EntityPolicy))):
            if (value := getattr(self, name)) not in policies:
                expected = ", ".join(map(repr, policies))
                raise ConfigurationError(f"Limits.{name}: expected one of {expected}, found {value!r}")


def read_limits(settings: Iterable[str]) -> Limits:
    """Limits from texts such as `max_bytes=1000`; those that are not named have their defaults."""
    given: dict[str, Any] = {}
    for setting in settings:
        name, _, value = (part.strip() for part in setting.partition("="))
        default = getattr(Limits(), name, None) if name.isidentifier() else None
        if not isinstance(default, int | str):
            known = ", ".join(each.name for each in fields(Limits))
            raise ConfigurationError(f"limit: expected NAME=VALUE with one of {known}, found {setting!r}")
        if isinstance(default, int) and not (value.isascii() and value.isdigit()):
            raise ConfigurationError(f"limit {name}: expected a whole number, found {value!r}")
        given[name] = int(value) if isinstance(default, int) else value
    return Limits(**given)


def is_in_stream(document: Document, stream: str) -> bool:
    """Whether a query on a stream is for a document; one that names no stream is for every query."""
    return not stream or not document.stream or document.stream == stream


_numbers = count(1)


def next_number(many: int = 1) -> int:
    """The first of so many numbers that no other document has."""
    # In one call: what other threads ask for comes before or behind.
    return deque(islice(_numbers, many), 1)[0] - many + 1 if many else 0


def as_documents(batch: Document | bytes | str | Iterable[Document | bytes | str]) -> list[Document]:
    """A batch in any of its forms as a list of documents, each with an id."""
    if isinstance(batch, Document | bytes | str):
        batch = [batch]
    documents = []
    for entry in batch:
        if type(entry) is bytes:  # as most are
            documents.append(_made(entry, f"document-{next(_numbers)}"))
            continue
        data = entry.data if isinstance(entry, Document) else entry
        if not isinstance(data, bytes | str):
            raise TypeError(f"a document is bytes or str, found {type(data).__name__}")
        if not isinstance(entry, Document):
            documents.append(Document(data, f"document-{next(_numbers)}"))
        else:
            documents.append(entry if entry.id else replace(entry, id=f"document-{next(_numbers)}"))
    return documents
