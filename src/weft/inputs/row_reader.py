"""A window over a file in, one row after the other out.

Inside a row nothing is looked for but what may end it, so that the interpreter works once a row and not once a tag.
Outside the rows everything is read, by expat (see `outline`).
"""

from __future__ import annotations

import re

from weft.errors import DocumentError
from weft.inputs.outline import DOCTYPE, Outline
from weft.inputs.window import FileWindow

_LONGEST = 64 * 1024 * 1024  # bytes of one tag, or of one comment outside the rows: they are held while they are read
_FAR = 1 << 62
# Bytes that may be added to rows: so many, and so many for each byte of the file. expat bounds entities by the same.
_ADDED, _AMPLIFIED = 8 * 1024 * 1024, 100
# Up to its end or, if it is broken, up to the next `<`, which no value can hold.
_TAG = re.compile(rb"""<[^"'<>]*+(?:(?:"[^"<]*+"|'[^'<]*+')[^"'<>]*+)*+(?:>|["'][^<]*+(?=<)|(?=<))""")
_ASIDE = re.compile(rb"<!--|<!\[CDATA\[|<\?")
_COMMENT, _INSTRUCTION = re.compile(rb"<!(?:--|\[CDATA\[)"), re.compile(rb"<\?")  # any other `<!` ends nothing
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_SLASH, _BANG, _QUESTION = b"/!?"


class RowReader:
    """Goes over a file from row to row: `reach_row`, then `take_row` or `pass_row`, and again.

    Both raise DocumentError or OutlineError where the file is not well-formed outside its rows.
    """

    def __init__(
        self, window: FileWindow, outline: Outline, row_tag: str, *, is_last: bool = True, refuses_doctype: bool = False
    ) -> None:
        self.window, self.outline = window, outline
        self._is_last = self._is_at_end = is_last
        self._refuses_doctype = refuses_doctype
        prefix = rb"" if ":" in row_tag else rb"(?:[^\s<>/!?:]++:)?"
        tag = re.escape(row_tag.encode())
        self._outside = re.compile(rb"<(?:!--|!\[CDATA\[|!DOCTYPE|\?|(%b%b)(?=[\s/>]))" % (prefix, tag))
        self._row = b""  # the row's name as written
        self._offset = 0
        self._inside: tuple[tuple[bytes, re.Pattern[bytes]], ...] = ()  # what may end the row, or hide its end
        self._ahead: list[int] = []  # where each of these is found next
        self._most = self._room = 0  # bytes that the row may have: as a document, and here
        self._first, self._added = window.offset, 0  # where this reader began; bytes that it has added to rows
        self._too_large: DocumentError | None = None  # what is wrong with a row that is held no longer

    # -- outside the rows

    def reach_row(self) -> bool:
        """Go on to the next row; False if there is none."""
        window = self.window
        is_going_on = True
        while is_going_on:
            found = self._outside.search(window.data, window.at)
            if found is None:
                is_going_on = self._pass_text()
            elif found[1] is None:
                is_going_on = self._pass_aside(found.start(), found[0])
            else:
                self._begin_row(found.start(), found[1])
                return True
        self._feed(len(window.data) if self._is_last else len(window.data) - 1)
        if self._is_last:
            self.outline.close(window.offset)
        return False

    def _pass_text(self) -> bool:
        """All that is here but for a tag that is cut by the window's edge."""
        data, at = self.window.data, self.window.at
        last = data.rfind(b"<", at)
        is_cut = last >= 0 and _TAG.match(data, last) is None
        self._feed(last if is_cut else len(data))
        return self._grow_markup()

    def _pass_aside(self, start: int, opening: bytes) -> bool:
        """A comment, CDATA section, instruction or DOCTYPE, which may hold what looks like a row."""
        data = self.window.data
        if opening in _ENDS:
            found = data.find(_ENDS[opening], start + len(opening))
            end = found + len(_ENDS[opening]) if found >= 0 else None
        else:
            if self._refuses_doctype:
                raise self.window.error(start, "a DOCTYPE is not allowed here")
            doctype = DOCTYPE.match(data, start)
            end = doctype.end() if doctype else None
        self._feed(end if end is not None and opening in _ENDS else start)
        if end is None:
            return self._grow_markup()
        if opening not in _ENDS:
            self.outline.feed_doctype(bytes(data[start:end]), self.window.offset)
            self.window.at = end
        return True

    def _begin_row(self, start: int, name: bytes) -> None:
        window = self.window
        self.outline.feed_row(window.data[window.at : start], window.offset)
        window.at = start
        self._offset = window.offset
        if name != self._row:
            self._row, tag = name, re.escape(name)
            tags = re.compile(rb"</%b[\s>]" % tag), re.compile(rb"<%b[\s/>]" % tag)
            self._inside = ((b"/", tags[0]), (b"<", tags[1]), (b"!", _COMMENT), (b"?", _INSTRUCTION))
            self._ahead = [-1] * len(self._inside)

    def _feed(self, to: int) -> None:
        window = self.window
        if to > window.at:
            self.outline.feed(window.data[window.at : to], window.offset)
            window.at = to

    def _grow_markup(self) -> bool:
        """Read on, since markup is cut by the window's edge; at least as much again, as it is then looked at again."""
        window = self.window
        held = len(window.data) - window.at
        if held > _LONGEST:
            raise window.error(window.at, f"a tag or comment of more than {_LONGEST} bytes")
        has_grown = False
        while (not has_grown or len(window.data) - window.at < 2 * held) and self._grow():
            has_grown = True
        return has_grown

    def _grow(self) -> bool:
        window = self.window
        if not window.grow():
            if self._is_at_end:
                return False
            window.data += b"<"  # what follows a part is a row, and shows that a tag before it is broken
            self._is_at_end = True
        self._ahead = [-1] * len(self._inside)
        self._check_room()
        return True

    # -- inside a row

    def take_row(self, most: int) -> tuple[int, bytes] | DocumentError:
        """The row's offset and the row as a document of its own, unless it has more bytes; goes on behind it."""
        window, name, offset = self.window, self._row, self._offset
        window.kept, self._room, self._most = window.at, most, most
        is_empty = self._pass_tag()
        tag = 0 if window.kept is None else window.at - window.kept
        if not is_empty:
            self._pass_content()
        self._check_room()
        if (start := window.kept) is None:
            return self._too_large
        window.kept = None
        row = bytes(memoryview(window.data)[start : window.at])
        doctype, declarations = self.outline.row_needs(name, row, tag)
        if not doctype and not declarations:
            return offset, row
        return self._complete(start, row, doctype, declarations)

    def _complete(
        self, start: int, row: bytes, doctype: bytes, declarations: bytes
    ) -> tuple[int, bytes] | DocumentError:
        """The row with what it lacks, unless that is too much: of this row, or of all."""
        inside = 1 + len(self._row)
        self._added += len(doctype) + len(declarations)
        if len(doctype) + len(declarations) + len(row) > self._most:
            return self._row_error(start, f"more than {self._most} bytes")
        if self._added > _ADDED + _AMPLIFIED * (self.window.offset - self._first):
            return self._row_error(start, "declarations outside the rows are repeated in too many of them")
        return self._offset, b"".join((doctype, row[:inside], declarations, row[inside:]))

    def _row_error(self, start: int, reason: str) -> DocumentError:
        return self.window.error(start, reason, f"{self.window.name}@{self._offset}")

    def pass_row(self) -> None:
        """Go on behind the row."""
        if not self._pass_tag():
            self._pass_content()

    def _check_room(self) -> None:
        """A row that is too large is held no longer."""
        window, start = self.window, self.window.kept
        if start is not None and window.at - start > self._room:
            self._too_large = self._row_error(start, f"more than {self._most} bytes")
            window.kept = None

    def _pass_tag(self) -> bool:
        """A start tag; whether it is that of an empty element."""
        window = self.window
        while (tag := _TAG.match(window.data, window.at)) is None:
            self._grow_or_fail()
        window.at = tag.end()
        return window.data.endswith(b"/>", tag.start(), tag.end())

    def _pass_content(self) -> None:
        window = self.window
        data = window.data
        depth = 1  # rows lie in rows
        while depth:
            window.at = at = self._next_inside()
            kind = data[at + 1]
            if kind == _SLASH:
                while (end := data.find(b">", window.at)) < 0:
                    self._grow_or_fail()
                window.at = end + 1
                depth -= 1
            elif kind in (_BANG, _QUESTION):
                self._pass_aside_inside()
            else:
                depth += not self._pass_tag()

    def _next_inside(self) -> int:
        """Where the row may end, or another begins in it, or a comment or the like does."""
        window = self.window
        data = window.data
        while True:
            ahead, at = self._ahead, window.at
            for kind, (sign, pattern) in enumerate(self._inside):
                if ahead[kind] < at:
                    sign_at = data.find(sign, at)  # one byte is found far faster, and most windows have no `!` or `?`
                    found = pattern.search(data, max(at, sign_at - 1)) if sign_at >= 0 else None
                    ahead[kind] = found.start() if found else _FAR
            if (nearest := min(ahead)) < _FAR:
                return nearest
            window.at = max(at, len(data) - max(len(self._row) + 2, len(b"<![CDATA")))
            self._grow_or_fail()

    def _pass_aside_inside(self) -> None:
        window = self.window
        data = window.data
        opening = _ASIDE.match(data, window.at)
        assert opening is not None  # `_next_inside` has found it
        end = _ENDS[opening[0]]
        window.at = opening.end()
        while (found := data.find(end, window.at)) < 0:
            window.at = max(window.at, len(data) - len(end) + 1)
            self._grow_or_fail()
        window.at = found + len(end)

    def _grow_or_fail(self) -> None:
        if not self._grow_markup():
            reason = f"unclosed <{self._row.decode('utf-8', 'replace')}> of byte {self._offset}"
            raise self.window.error(len(self.window.data), reason)
