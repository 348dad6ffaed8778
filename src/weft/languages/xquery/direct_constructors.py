"""The text of a constructor in, what it builds out: characters are read here, what stands in braces by the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from weft.languages.xquery.path_expressions import PathParser
from weft.languages.xquery.references import read_reference
from weft.plans.constructions import BuiltAttribute, BuiltElement, BuiltLeaf
from weft.plans.expressions import ConstantValue, InTurn, QueryExpression

_NAME = re.compile(r"[^\W\d][\w.\-·]*(?::[^\W\d][\w.\-·]*)?")
_SPACE = re.compile(r"\s*")
_TEXT = re.compile(r"[^<{}&]+")
_SPACES = re.compile(r"[\t\n\r]")
_ATTRIBUTE = re.compile(rf"""\s+({_NAME.pattern})\s*=\s*("[^"{{]*"|'[^'{{]*')""")
_INSTRUCTION = re.compile(rf"<\?({_NAME.pattern})(?:\s+(.*?))?\?>", re.DOTALL)
_LINE_ENDS = re.compile(r"\r\n?")


class DirectConstructors(PathParser):
    """Reads constructors that look like what they build."""

    keeps_space = False  # `declare boundary-space preserve`
    _written: tuple[tuple[str, str], ...] = ()  # the namespaces that the constructors around this one write

    def direct(self) -> QueryExpression:
        """The constructor that starts with the next token; goes on with the token behind it."""
        if self.query.startswith("<!--", self.at):
            built, at = self._comment(self.at)
        elif self.query.startswith("<?", self.at):
            built, at = self._instruction(self.at)
        else:
            with self._inside(()):
                built, at = self._element(self.at)
        self.seek(at)
        return built

    @contextmanager
    def _inside(self, written: tuple[tuple[str, str], ...]) -> Iterator[None]:
        """Read what stands in an element that writes these namespaces, or in braces, where none are surely there."""
        before, self._written = self._written, written
        namespaces = dict(self.namespaces)
        yield
        self._written, self.namespaces = before, namespaces

    def _element(self, at: int) -> tuple[QueryExpression, int]:
        self.enter()
        found = _NAME.match(self.query, at + 1)
        if found is None:
            self.fail("expected the name of an element", at + 1)
        with self._inside(self._written):
            declared = self._declarations(found.end())
            name = found[0]
            declared |= self._needed([name], at + 1, declared)
            attributes, at, is_empty = self._attributes(name, found.end())
            declared |= self._needed([str(each.name) for each in attributes], at, declared, is_attribute=True)
            self._written = tuple({**dict(self._written), **declared}.items())
            content, at = ((), at) if is_empty else self._content(name, at)
            written = self._written
        self.leave()
        return BuiltElement(name, attributes, content, tuple(declared.items()), written), at

    def _declarations(self, at: int) -> dict[str, str]:
        """The namespaces that a start tag declares; from here on they are known."""
        declared: dict[str, str] = {}
        while (found := _ATTRIBUTE.match(self.query, at)) is not None:
            prefix, _, local = found[1].rpartition(":")
            if found[1] == "xmlns" or prefix == "xmlns":
                name = "" if found[1] == "xmlns" else local
                uri, _ = self._characters(found.start(2) + 1, found[2][0])
                if name in declared:
                    self.fail(f"expected each namespace once, found {found[1]!r} again", found.start(1))
                declared[name] = uri
            at = found.end()
        self.namespaces |= declared
        return declared

    def _needed(
        self, names: list[str], at: int, declared: dict[str, str], is_attribute: bool = False
    ) -> dict[str, str]:
        """The namespaces of names that must be written, as nothing around writes them."""
        needed: dict[str, str] = {}
        known = {**dict(self._written), **declared}
        for name in names:
            prefix = name.rpartition(":")[0]
            if prefix == "xml" or (is_attribute and not prefix):
                continue
            uri = self.namespace_of(prefix, at)
            if known.get(prefix, "") != uri:
                needed[prefix] = uri
        return needed

    def _attributes(self, name: str, at: int) -> tuple[tuple[BuiltAttribute, ...], int, bool]:
        """The attributes of a start tag, where it ends, and whether that is the element's end too."""
        found: dict[str, BuiltAttribute] = {}
        while True:
            space = self._space(at)
            if self.query.startswith("/>", space):
                return tuple(found.values()), space + 2, True
            if self.query.startswith(">", space):
                return tuple(found.values()), space + 1, False
            if space == at:
                self.fail(f"expected >, /> or an attribute in <{name}", at)
            attribute, at = self._attribute(space)
            if attribute is None:
                continue
            if str(attribute.name) in found:
                self.fail(f"expected each attribute once, found {attribute.name!r} again", space)
            found[str(attribute.name)] = attribute

    def _attribute(self, at: int) -> tuple[BuiltAttribute | None, int]:
        """An attribute; nothing for the declaration of a namespace, which is known already."""
        found, start = _NAME.match(self.query, at), at
        if found is None:
            self.fail("expected an attribute's name", at)
        at = self._space(found.end())
        if not self.query.startswith("=", at):
            self.fail("expected =", at)
        at = self._space(at + 1)
        quote = self.query[at : at + 1]
        if quote not in ('"', "'") or not quote:
            self.fail("expected an attribute value in quotes", at)
        parts: list[QueryExpression] = []
        at += 1
        while True:
            text, at = self._characters(at, quote)
            parts += [ConstantValue(text)] if text else []
            if not self._is_single(at, "{"):
                break
            inner, at = self._braces(at)
            parts.append(inner)
        if found[0] == "xmlns" or found[0].startswith("xmlns:"):
            if any(not isinstance(part, ConstantValue) for part in parts):
                self.fail("expected a namespace without braces", start)
            if _ATTRIBUTE.match(self.query, start - 1) is None or not self._is_known(found[0], parts):
                self.refuse("a namespace declaration behind an attribute with braces", start, "put it first")
            return None, at + 1
        return BuiltAttribute(found[0], tuple(parts)), at + 1

    def _is_known(self, name: str, parts: list[QueryExpression]) -> bool:
        uri = "".join(str(part.value) for part in parts if isinstance(part, ConstantValue))
        return self.namespaces.get(name.removeprefix("xmlns").removeprefix(":")) == uri

    # -- characters

    def _characters(self, at: int, quote: str) -> tuple[str, int]:
        """The value of an attribute up to a brace, or its end."""
        text: list[str] = []
        while True:
            if at >= len(self.query):
                self.fail("an attribute value does not end", at)
            if self.query.startswith(quote * 2, at):
                text.append(quote)
                at += 2
            elif self.query[at] == quote or self._is_single(at, "{"):
                return "".join(text), at
            else:
                is_literal = self.query[at] != "&"
                piece, at = self._character(at, quote)
                text.append(_SPACES.sub(" ", piece) if is_literal else piece)

    def _character(self, at: int, quote: str) -> tuple[str, int]:
        """Some text as it reads: up to the next brace, reference, tag or quote."""
        if self.query.startswith(("{{", "}}"), at):
            return self.query[at], at + 2
        if self.query[at] == "}":
            self.fail("expected }} for a brace in text, found }", at)
        if self.query[at] == "&":
            return read_reference(self, at)
        if self.query[at] == "<":
            self.fail("expected &lt; in an attribute value, found <", at)
        found = _TEXT.match(self.query, at)
        assert found is not None
        end = found.end()
        if quote and (stop := self.query.find(quote, at, end)) >= 0:
            end = stop
        return _LINE_ENDS.sub("\n", self.query[at:end]), end

    # Long: what may stand in an element, one after the other.
    def _content(self, name: str, at: int) -> tuple[tuple[QueryExpression, ...], int]:
        parts: list[QueryExpression] = []
        text: list[str] = []
        keep = False  # white space alone is kept only if it was written as a reference or CDATA

        def flush() -> None:
            nonlocal keep
            if text and (keep or self.keeps_space or "".join(text).strip(" \t\r\n")):
                parts.append(BuiltLeaf("text", ConstantValue("".join(text))))
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
            elif self.query.startswith("<", at):
                flush()
                inner, at = self._markup(at)
                parts.append(inner)
            elif self._is_single(at, "{"):
                flush()
                inner, at = self._braces(at)
                parts.append(inner)
            else:
                keep |= self.query[at] == "&"
                piece, at = self._character(at, "")
                text.append(piece)

    def _markup(self, at: int) -> tuple[QueryExpression, int]:
        if self.query.startswith("<!--", at):
            return self._comment(at)
        return self._instruction(at) if self.query.startswith("<?", at) else self._element(at)

    def _comment(self, at: int) -> tuple[QueryExpression, int]:
        end = self.query.find("--", at + 4)
        if end < 0 or not self.query.startswith("-->", end):
            self.fail("a comment in a constructor does not end, or has -- in it", at)
        return BuiltLeaf("comment", ConstantValue(self.query[at + 4 : end])), end + 3

    def _instruction(self, at: int) -> tuple[QueryExpression, int]:
        found = _INSTRUCTION.match(self.query, at)
        if found is None or found[1].lower() == "xml" or ":" in found[1]:
            self.fail("expected an instruction: <?name …?>", at)
        return BuiltLeaf("instruction", ConstantValue(found[2] or ""), found[1]), found.end()

    def _end_tag(self, name: str, at: int) -> int:
        found = _NAME.match(self.query, at + 2)
        if found is None or found[0] != name:
            self.fail(f"expected </{name}>, found </{found[0] if found else ''}", at)
        at = self._space(found.end())
        if not self.query.startswith(">", at):
            self.fail("expected >", at)
        return at + 1

    def _braces(self, at: int) -> tuple[QueryExpression, int]:
        self.seek(at)
        self.expect("{")
        with self._inside(()):
            inner = InTurn(()) if self.text == "}" else self.expression()
        if self.text != "}":
            self.unexpected("'}'")
        return inner, self.at + 1

    def _is_single(self, at: int, brace: str) -> bool:
        return self.query.startswith(brace, at) and not self.query.startswith(brace * 2, at)

    def _space(self, at: int) -> int:
        found = _SPACE.match(self.query, at)
        return found.end() if found else at
