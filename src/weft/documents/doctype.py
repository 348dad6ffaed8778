"""A source in; its DOCTYPE out, read no further than to where declarations begin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from weft.documents.source import SourceBytes

_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s++|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE", re.DOTALL)
#: What stands between `<!DOCTYPE` and its declarations, or its end.
HEAD = re.compile(rb"""(?:[^\["'>]++|"[^"]*+"|'[^']*+')*+""")


@dataclass(frozen=True, slots=True)
class Doctype:
    """A DOCTYPE but for its declarations."""

    start: int  # the byte offset of its `<`
    at: int  # the byte offset of the `[` of its declarations, or of its `>` if it has none
    has_subset: bool
    is_external: bool  # it names a DTD, which is never fetched
    public: str | None = None
    is_standalone: bool = False
    name: str = ""
    system: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared, here or elsewhere."""
        return not self.has_subset and not self.is_external


def find_doctype(source: SourceBytes) -> Doctype | None:
    """The DOCTYPE of a document; raises DocumentError where what stands before it is not well-formed.

    expat is given no more than that: an exception of a handler does not stop it, it reads on to the end of what it has.
    """
    data = source.data
    if (before := _BEFORE.match(data)) is None or (head := HEAD.match(data, before.end())) is None:
        return None
    found: list[Doctype] = []
    is_standalone = False
    parser = expat.ParserCreate("utf-8", " ")

    def declare(_version: str, _encoding: str | None, standalone: int) -> None:
        nonlocal is_standalone
        is_standalone = standalone == 1

    def doctype(name: str, system: str | None, public: str | None, has_subset: int) -> None:
        is_external = system is not None or public is not None
        place = before.end() - 9, head.end()
        found.append(Doctype(*place, bool(has_subset), is_external, public, is_standalone, name, system))

    parser.XmlDeclHandler = declare
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data[: head.end() + 1], False)
    except expat.ExpatError as error:
        raise source.error(parser.ErrorByteIndex, expat.ErrorString(error.code)) from None
    return found[0] if found else None
