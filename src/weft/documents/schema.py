"""A file of XML Schema in, a check of documents out that travels to other processes with all that it includes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree

from weft.errors import ConfigurationError, DocumentError


@dataclass(frozen=True)
class Schema:
    """A schema by its files, read once; it is compiled once in each process that asks for it.

    Nothing is fetched: what it includes or imports are files beside it.
    """

    main: str
    files: Mapping[str, bytes] = field(repr=False)
    digest: str

    @classmethod
    def load(cls, file: str | Path) -> Schema:
        """Read a schema with all that it includes; raises ConfigurationError if it is none."""
        path = Path(file)
        if not path.is_file():
            raise ConfigurationError(f"{path}: no such file of XML Schema")
        main = str(path.absolute())
        files: dict[str, bytes] = {main: path.read_bytes()}
        _compile(main, files, _Files(files, is_reading=True))
        digest = blake2b(repr(sorted(files.items())).encode(), digest_size=16).hexdigest()
        return cls(main, files, digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and other.digest == self.digest

    def fault(self, document: str, source: bytes) -> DocumentError | None:
        """Why a document, which is well-formed and in UTF-8, is not valid: the first error, with its path."""
        schema = _compiled(self)
        parser = etree.XMLParser(encoding="utf-8", no_network=True, resolve_entities=False, huge_tree=True)
        tree = etree.fromstring(source, parser)
        if schema.validate(tree):
            return None
        error = schema.error_log[0]
        line = max(error.line, 1)
        offset = _offset_of(source, line)
        return DocumentError(document, line, 1, offset, f"not valid: {error.message} ({error.path or '/'})")


class _Files(etree.Resolver):  # type: ignore[misc]  # lxml has no types
    """Gives the parser the files that are known; while a schema is loaded those of its folder become known."""

    def __init__(self, files: Mapping[str, bytes], is_reading: bool = False) -> None:
        super().__init__()
        self._files, self._is_reading = files, is_reading

    def resolve(self, url: str, _public: str | None, context: Any) -> Any:
        """A file by its address."""
        name = unquote(urlsplit(url).path) if url.startswith("file:") else url
        if self._is_reading and isinstance(self._files, dict) and name not in self._files and Path(name).is_file():
            self._files[name] = Path(name).read_bytes()
        if name not in self._files:
            return None  # the parser itself says what is missing
        return self.resolve_string(self._files[name], context, base_url=name)


def _compile(main: str, files: Mapping[str, bytes], resolver: _Files) -> etree.XMLSchema:
    parser = etree.XMLParser(no_network=True, resolve_entities=False)
    parser.resolvers.add(resolver)
    try:
        return etree.XMLSchema(etree.fromstring(files[main], parser, base_url=main))
    except (etree.XMLSyntaxError, etree.XMLSchemaParseError) as error:
        first = error.error_log[0] if len(error.error_log) else None
        place = f"{main}:{first.line}" if first is not None else main
        raise ConfigurationError(f"{place}: not an XML Schema: {error}") from None


@lru_cache(8)
def _compiled(schema: Schema) -> etree.XMLSchema:
    return _compile(schema.main, schema.files, _Files(schema.files))


def _offset_of(source: bytes, line: int) -> int:
    """Where a line begins; what a parser no longer counts is the last line that it did."""
    at = 0
    for _ in range(line - 1):
        following = source.find(b"\n", at)
        if following < 0:
            break
        at = following + 1
    return at
