"""The text of an element constructor in, the element to build out; what stands in braces is read by the parser."""

from __future__ import annotations

import re
from html import unescape

from weft.languages.xpath.parser import Parser
from weft.plans.flwr import Attribute, Element, ElementPart, Enclosed, Returned

_NAME = re.compile(r"[^\W\d][\w.\-·]*(?::[^\W\d][\w.\-·]*)?")
_SPACE = re.compile(r"\s*")
_TEXT = re.compile(r"[^<{}&]+")
_REFERENCE = re.compile(r"&(?:lt|gt|amp|quot|apos|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));")
_NO_CHARACTER = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES = re.compile(r"[\t\n\r]")


class Constructor(Parser):
    """Reads characters inside constructors and tokens outside them; `seek` goes from one to the other."""

    def enclosed(self) -> Enclosed:
        """What stands in braces, up to and with the closing one."""
        raise NotImplementedError

    # -- characters

    def element(self) -> Element:
        """The constructor that starts with the next token; goes on with the token behind it."""
        element, at = self._element(self.at)
        self.seek(at)
        return element

    def _element(self, at: int) -> tuple[Element, int]:
        self.enter()
        element, end = self._element_at(at)
        self.check(element, at)
        self.leave()
        return element, end

    def check(self, element: Element, at: int) -> None:
        """Refuse an element that would not be well-formed."""
        raise NotImplementedError

    def _element_at(self, at: int) -> tuple[Element, int]:
        found = _NAME.match(self.query, at + 1)
        if self.query[at] != "<" or found is None:
            self.fail("expected the name of an element", at + 1)
        name, at = found[0], found.end()
        if ":" in name:
            self.refuse("a prefix in a constructor", found.start())
        attributes: dict[str, Attribute] = {}
        while True:
            space = self._space(at)
            if self.query.startswith("/>", space):
                return Element(name, tuple(attributes.values()), ()), space + 2
            if self.query.startswith(">", space):
                break
            if space == at:
                self.fail(f"expected >, /> or an attribute in <{name}", at)
            attribute, at = self._attribute(space)
            if attribute.name in attributes:
                self.fail(f"expected each attribute once, found {attribute.name!r} again", space)
            if attribute.name == "xmlns" or attribute.name.startswith("xmlns:"):
                self.refuse("a namespace declaration in a constructor", space)
            attributes[attribute.name] = attribute
        parts, at = self._content(name, space + 1)
        return Element(name, tuple(attributes.values()), parts), at

    def _attribute(self, at: int) -> tuple[Attribute, int]:
        found = _NAME.match(self.query, at)
        if found is None:
            self.fail("expected an attribute's name", at)
        if ":" in found[0] and not found[0].startswith("xmlns:"):
            self.refuse("a prefix in a constructor", at)
        at = self._space(found.end())
        if not self.query.startswith("=", at):
            self.fail("expected =", at)
        at = self._space(at + 1)
        quote = self.query[at : at + 1]
        if quote not in ('"', "'") or not quote:
            self.fail("expected an attribute value in quotes", at)
        parts: list[str | Returned] = []
        text: list[str] = []
        at += 1
        while not (self.query.startswith(quote, at) and not self.query.startswith(quote * 2, at)):
            if at >= len(self.query):
                self.fail("an attribute value does not end", at)
            if self._is_single(at, "{"):
                if text:
                    parts.append("".join(text))
                    text = []
                value, at = self._braces(at)
                parts.append(self._one_value(value, at))
                continue
            is_literal = self.query[at] != "&"
            piece, at = self._character(at, quote)
            text.append(_SPACES.sub(" ", piece) if is_literal else piece)
        return Attribute(found[0], (*parts, *(["".join(text)] if text else []))), at + 1

    def _one_value(self, enclosed: Enclosed, at: int) -> Returned:
        if len(enclosed.items) != 1 or isinstance(enclosed.items[0], str | Element):
            self.refuse("anything but one path or count in the braces of an attribute", at)
        return enclosed.items[0]

    def _content(self, name: str, at: int) -> tuple[tuple[ElementPart, ...], int]:
        parts: list[ElementPart] = []
        text: list[str] = []
        keep = False  # white space alone is kept only if it was written as a reference or CDATA

        def flush() -> None:
            nonlocal keep
            if text and (keep or "".join(text).strip(" \t\r\n")):
                parts.append("".join(text))
            text.clear()
            keep = False

        while True:
            if at >= len(self.query):
                self.fail(f"<{name}> does not end", at)
            if self.query.startswith("</", at):
                flush()
                return tuple(parts), self._end_tag(name, at)
            if self.query.startswith("<![CDATA[", at):
                end = self.query.find("]]>", at)
                if end < 0:
                    self.fail("a CDATA section does not end", at)
                text.append(self.query[at + 9 : end])
                at, keep = end + 3, True
            elif self.query.startswith(("<!--", "<?"), at):
                self.refuse("a comment or instruction in a constructor", at)
            elif self.query.startswith("<", at):
                flush()
                inner, at = self._element(at)
                parts.append(inner)
            elif self._is_single(at, "{"):
                flush()
                enclosed, at = self._braces(at)
                parts.append(enclosed)
            else:
                keep |= self.query[at] == "&"
                piece, at = self._character(at, "")
                text.append(piece)

    def _end_tag(self, name: str, at: int) -> int:
        found = _NAME.match(self.query, at + 2)
        if found is None or found[0] != name:
            self.fail(f"expected </{name}>, found </{found[0] if found else ''}", at)
        at = self._space(found.end())
        if not self.query.startswith(">", at):
            self.fail("expected >", at)
        return at + 1

    def _braces(self, at: int) -> tuple[Enclosed, int]:
        self.seek(at)
        self.expect("{")
        enclosed = self.enclosed()
        if self.text != "}":
            self.unexpected("'}'")
        return enclosed, self.at + 1

    def _character(self, at: int, quote: str) -> tuple[str, int]:
        """Some text as it reads: up to the next brace, reference, tag or quote."""
        if quote and self.query.startswith(quote * 2, at):
            return quote, at + 2
        if self.query.startswith(("{{", "}}"), at):
            return self.query[at], at + 2
        if self.query[at] == "}":
            self.fail("expected }} for a brace in text, found }", at)
        if self.query[at] == "&":
            return self.reference(at)
        if self.query[at] == "<":
            self.fail("expected &lt; in an attribute value, found <", at)
        found = _TEXT.match(self.query, at)
        assert found is not None
        end = found.end()
        if quote and (stop := self.query.find(quote, at, end)) >= 0:
            end = stop
        return self.query[at:end].replace("\r\n", "\n").replace("\r", "\n"), end

    def reference(self, at: int) -> tuple[str, int]:
        """The character that a reference stands for, and where it ends."""
        found = _REFERENCE.match(self.query, at)
        if found is None:
            self.fail("expected a character reference or one of &lt; &gt; &amp; &quot; &apos;", at)
        code = found[1] or found[2]
        character = chr(int(code, 16 if found[2] else 10)) if code and len(code) < 8 else unescape(found[0])
        if _NO_CHARACTER.search(character):
            self.fail("expected a reference to a character of XML", at)
        return character, found.end()

    def _is_single(self, at: int, brace: str) -> bool:
        return self.query.startswith(brace, at) and not self.query.startswith(brace * 2, at)

    def _space(self, at: int) -> int:
        found = _SPACE.match(self.query, at)
        return found.end() if found else at
