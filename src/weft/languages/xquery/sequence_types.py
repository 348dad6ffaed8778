"""The text of a type in, what it asks of a sequence out."""

from __future__ import annotations

from weft.languages.xquery.expression_reader import ExpressionReader
from weft.plans.expressions import NodeTest, Occurrence, SequenceType, TestedKind

_INTEGERS = [
    "int",
    "long",
    "short",
    "byte",
    "unsignedInt",
    "unsignedLong",
    "unsignedShort",
    "unsignedByte",
    "nonNegativeInteger",
    "positiveInteger",
    "nonPositiveInteger",
    "negativeInteger",
]
#: The types of single values that there are.
ATOMIC_TYPES = ("string", "boolean", "integer", "decimal", "double", "untypedAtomic", "date", "dateTime", "time")
_OTHERS = ("anyAtomicType", "numeric")
_NODE_KINDS: dict[str, TestedKind] = {
    "element": "element",
    "attribute": "attribute",
    "text": "text",
    "node": "node",
    "document-node": "document",
}
_OCCURRENCES: dict[str, Occurrence] = {"?": "?", "*": "*", "+": "+"}
#: The kinds of nodes that there are not.
NO_NODES = ("comment", "processing-instruction", "schema-element", "schema-attribute", "namespace-node")


class TypeReader(ExpressionReader):
    """Reads types, and tests on nodes."""

    def atomic_type(self) -> str:
        """The name of a type of single values, without its prefix."""
        if self.kind != "name":
            self.unexpected("a type")
        at, name = self.at, self.advance()
        known = self.function_name(name, at).removeprefix("xs:")
        if known in _INTEGERS:
            self.refuse(f"the type {name}", at, "there is xs:integer")
        if known not in (*ATOMIC_TYPES, *_OTHERS):
            self.refuse(f"the type {name}", at, f"there are {', '.join(f'xs:{each}' for each in ATOMIC_TYPES)}")
        return known

    def sequence_type(self) -> SequenceType:
        """A type with how many there may be of it."""
        item: str | NodeTest
        if self.following == "(" and self.kind == "name":
            if self.text in ("item", "empty-sequence"):
                item = "item" if self.advance() == "item" else "empty"
                self.expect("(")
                self.expect(")")
            else:
                item = self.kind_test()
        else:
            item = self.atomic_type()
        for sign, occurrence in _OCCURRENCES.items():
            if self.accept(sign):
                return SequenceType(item, occurrence)
        return SequenceType(item)

    def single_type(self) -> tuple[str, bool]:
        """What is cast to, and whether nothing may be cast."""
        return self.atomic_type(), self.accept("?")

    def kind_test(self) -> NodeTest:
        """`node()`, `text()`, `element(name)` and their like."""
        at, kind = self.at, self.advance()
        if kind in NO_NODES:
            self.refuse(f"{kind}()", at)
        if kind not in _NODE_KINDS:
            self.refuse(f"the function {kind}() as a step", at)
        self.expect("(")
        label = "*"
        if kind in ("element", "attribute") and self.text != ")":
            label = self.label(kind == "attribute")
        self.expect(")")
        return NodeTest(_NODE_KINDS[kind], label)
