"""The text of what expressions are made of in, their nodes out: constants, variables, calls, constructors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from weft.languages.xquery.direct_constructors import DirectConstructors
from weft.languages.xquery.expression_reader import CONTEXT, LOCAL, number_of
from weft.languages.xquery.references import read_string
from weft.languages.xquery.sequence_types import ATOMIC_TYPES
from weft.plans.constructions import BuiltAttribute, BuiltElement, BuiltLeaf
from weft.plans.expressions import (
    Call,
    Cast,
    ComingDocument,
    ConstantValue,
    InTurn,
    QueryExpression,
    SequenceType,
    Typed,
    UserCall,
    VariableUse,
)

_MOST = 1_000
#: The functions that there are, each with how many arguments it takes at least and at most.
ARITIES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(["true", "false", "position", "last"], (0, 0)),
    **dict.fromkeys(
        ["data", "string", "number", "string-length", "normalize-space", "name", "local-name", "namespace-uri", "root"],
        (0, 1),
    ),
    **dict.fromkeys(
        [
            "count",
            "exists",
            "empty",
            "not",
            "boolean",
            "avg",
            "min",
            "max",
            "upper-case",
            "lower-case",
            "distinct-values",
        ],
        (1, 1),
    ),
    **dict.fromkeys(["zero-or-one", "exactly-one", "one-or-more", "reverse", "head", "tail", "unordered"], (1, 1)),
    **dict.fromkeys(["floor", "ceiling", "abs", "year-from-date", "month-from-date", "day-from-date"], (1, 1)),
    **dict.fromkeys(["sum", "string-join", "tokenize", "round"], (1, 2)),
    **dict.fromkeys(["contains", "starts-with", "ends-with", "substring-before", "substring-after", "matches"], (2, 2)),
    **dict.fromkeys(["index-of", "remove", "deep-equal"], (2, 2)),
    **dict.fromkeys(["substring", "subsequence"], (2, 3)),
    **dict.fromkeys(["translate", "replace", "insert-before"], (3, 3)),
    "concat": (2, _MOST),
}
_DOCUMENTS = ("doc", "document", "stream", "collection")
_REFUSED = {
    "try": "say what may fail in a condition before",
    "typeswitch": "ask with `instance of` in if … then … else …",
    "validate": None,
    "map": None,
    "array": None,
}


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """What a function of the query takes and gives."""

    parameters: tuple[SequenceType | None, ...]


class PrimaryParser(DirectConstructors):
    """Reads primary expressions."""

    stream = ""
    signatures: dict[tuple[str, int], FunctionSignature]
    global_variables: set[str]

    def primary(self) -> QueryExpression:
        """What is neither a path nor an operation."""
        if self.kind == "number":
            return ConstantValue(number_of(self.advance()))
        if self.kind == "string":
            return ConstantValue(read_string(self))
        if self.kind == "name":
            return self._named()
        match self.text:
            case "$":
                return self._variable()
            case "(":
                return self._parentheses()
            case ".":
                self.advance()
                return CONTEXT
            case "<":
                return self.direct()
            case "%":
                self.refuse("an annotation", self.at)
        return self.unexpected("an expression")

    def _variable(self) -> QueryExpression:
        at, name = self.at, self.variable_name()
        if name in self.variables:
            return self.variables[name] or VariableUse(name)
        if name in self.global_variables:
            return UserCall(f"${name}", ())
        return self.fail(f"expected a variable that is bound, found ${name}", at)

    def _parentheses(self) -> QueryExpression:
        self.enter()
        self.expect("(")
        inner = InTurn(()) if self.text == ")" else self.expression()
        self.leave()
        self.expect(")")
        return inner

    def _named(self) -> QueryExpression:
        """A call, a constructor, or what there is not, told by its name."""
        at, following = self.at, self.following
        if self.text in _REFUSED and following in ("{", "("):
            self.refuse(self.text, at, _REFUSED[self.text])
        if self.text in ("ordered", "unordered") and following == "{":
            self.advance()
            return self._braced()
        if following == "#" or (self.text == "function" and following == "("):
            self.refuse("a function as a value", at)
        if following == "(":
            return self._call()
        return self._computed()

    # -- calls

    def _call(self) -> QueryExpression:
        at, name = self.at, self.function_name(self.text, self.at)
        self.advance()
        self.expect("(")
        self.enter()
        arguments: list[QueryExpression] = []
        while self.text != ")":
            arguments.append(self.single())
            if not self.accept(","):
                break
        self.leave()
        self.expect(")")
        return self.called(name, arguments, at)

    def called(self, name: str, arguments: list[QueryExpression], at: int) -> QueryExpression:
        """A function with its arguments."""
        if (signature := self.signatures.get((name, len(arguments)))) is not None:
            return UserCall(f"{name}#{len(arguments)}", tuple(map(converted, arguments, signature.parameters)))
        if name in _DOCUMENTS:
            return self._document(arguments, at)
        if name.startswith("xs:"):
            if name[3:] not in ATOMIC_TYPES or len(arguments) != 1:
                self.refuse(f"the function {name}()", at)
            return Cast(arguments[0], name[3:], is_optional=True)
        if name not in ARITIES:
            written = name.replace(f"{{{LOCAL}}}", "local:")
            if name.startswith("{"):
                found = f"{written}() with {len(arguments)} arguments"
                self.fail(f"expected a function that is declared, found {found}", at)
            self.refuse(f"the function {written}()", at, f"there are {', '.join(sorted(ARITIES))}")
        least, most = ARITIES[name]
        if not least <= len(arguments) <= most:
            expected = str(least) if least == most else f"{least} to {most}" if most < _MOST else f"at least {least}"
            self.fail(f"expected {expected} arguments of {name}(), found {len(arguments)}", at)
        return Call(name, tuple(arguments) or ((CONTEXT,) if most and name != "true" else ()))

    def _document(self, arguments: list[QueryExpression], at: int) -> QueryExpression:
        """`doc("name")`: the document that comes, if it is of that stream or names none."""
        if (
            len(arguments) != 1
            or not isinstance(arguments[0], ConstantValue)
            or not isinstance(arguments[0].value, str)
        ):
            self.refuse("a document whose name is worked out", at, "write it in quotes")
        name = arguments[0].value
        if self.stream and name != self.stream:
            self.refuse("several documents at once", at, "XSCL joins documents")
        self.stream = name
        return ComingDocument()

    # -- computed constructors

    def _computed(self) -> QueryExpression:
        at, kind = self.at, self.advance()
        if kind in ("text", "comment", "document"):
            return BuiltLeaf(cast(Literal["text", "comment", "document"], kind), self._braced())
        if kind not in ("element", "attribute"):
            self.refuse(f"a computed {kind}", at)
        name: str | QueryExpression
        declared: tuple[tuple[str, str], ...] = ()
        if self.text == "{":
            name = self._braced()
            if isinstance(name, ConstantValue) and isinstance(name.value, str) and ":" not in name.value:
                name = name.value
        else:
            name_at, name = self.at, self.advance()
            prefix = name.rpartition(":")[0]
            if prefix or kind == "element":
                uri = self.namespace_of(prefix, name_at)
                declared = ((prefix, uri),) if uri and prefix != "xml" else ()
        content = self._braced()
        if kind == "attribute":
            return BuiltAttribute(name, (content,), declared)
        in_scope = tuple(self.namespaces.items())
        return BuiltElement(name, (), (content,), declared, in_scope if not isinstance(name, str) else ())

    def _braced(self) -> QueryExpression:
        self.expect("{")
        self.enter()
        with self._inside(()):
            inner = InTurn(()) if self.text == "}" else self.expression()
        self.leave()
        self.expect("}")
        return inner


def converted(value: QueryExpression, type: SequenceType | None) -> QueryExpression:
    """What a function takes or gives, as its type says."""
    return value if type is None else Typed(value, type, "convert")
