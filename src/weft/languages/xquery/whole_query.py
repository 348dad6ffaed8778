"""A whole query of XQuery in, the program that is worked out alone out."""

from __future__ import annotations

from collections.abc import Mapping

from weft.languages.reader import OnWarning
from weft.languages.xquery.expression_reader import LOCAL
from weft.languages.xquery.findings import with_findings
from weft.languages.xquery.flwr_expressions import FlwrExpressionParser
from weft.languages.xquery.primaries import FunctionSignature, converted
from weft.languages.xquery.references import read_string
from weft.languages.xquery.required import first_binding, known_conditions, required
from weft.languages.xquery.signatures import find_signatures
from weft.plans.expressions import QueryExpression, SequenceType, UserCall, UserFunction
from weft.plans.lone_query import LoneQuery
from weft.plans.walk import walk

_REFUSED = ("import", "module")
_SETTINGS = {  # what prologs say that changes nothing here, or is read below
    "ordering": ("ordered", "unordered"),
    "construction": ("preserve", "strip"),
    "copy-namespaces": ("preserve", "no-preserve"),
}


def parse_lone_query(
    query: str,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    most_nested: int,
    on_warning: OnWarning | None,
    why: str,
) -> LoneQuery:
    """The program of a query; `why` says what it has that the shared plan does not."""
    parser = ProgramParser(query, namespaces or {}, ignore_namespaces).within(most_nested, on_warning)
    return parser.program(why)


class ProgramParser(FlwrExpressionParser):
    """Reads prologs, and what stands behind them."""

    def __init__(self, query: str, namespaces: Mapping[str, str], ignore_namespaces: bool = False) -> None:
        super().__init__(query, namespaces, ignore_namespaces)
        self._functions: list[UserFunction] = []
        self.signatures, self.global_variables = {}, set()

    def program(self, why: str) -> LoneQuery:
        """The whole query."""
        self._prolog()
        body = self.expression()
        if self.kind != "end":
            self.unexpected("the end of the query")
        self._check_calls(body)
        functions = tuple(self._functions)
        found = with_findings(body)
        needed = required(found, functions)
        first = first_binding(found, needed)
        return LoneQuery(self.stream, needed, found, functions, why, first, known_conditions(found, first))

    # -- prolog

    def _prolog(self) -> None:
        if self.is_word("xquery") and self.following in ("version", "encoding"):
            while not self.accept(";"):
                if self.kind == "end":
                    self.unexpected("';'")
                self.advance()
        self.signatures = find_signatures(self)
        while True:
            if self.is_word(*_REFUSED) and self.following in ("module", "schema", "namespace"):
                self.refuse(f"{self.text} {self.following}", self.at)
            if not self.is_word("declare") or self.following in ("", "/", "("):
                return
            self.advance()
            self._declaration()
            self.expect(";")

    def _declaration(self) -> None:
        at, word = self.at, self.advance()
        match word:
            case "namespace":
                self._namespace()
            case "default":
                self._default(at)
            case "boundary-space":
                self.keeps_space = self.is_word("preserve")
                self.advance()
            case "variable":
                self._variable_declaration()
            case "function":
                self._function_declaration()
            case "copy-namespaces":
                self.advance()
                self.expect(",")
                self.advance()
            case _ if word in _SETTINGS and self.is_word(*_SETTINGS[word]):
                self.advance()
            case _:
                self.refuse(f"declare {word}", at)

    def _namespace(self) -> None:
        if self.kind != "name":
            self.unexpected("a prefix")
        prefix = self.advance()
        self.expect("=")
        if self.kind != "string":
            self.unexpected("a namespace in quotes")
        self.namespaces[prefix] = read_string(self)

    def _default(self, at: int) -> None:
        if self.is_word("element") and self.following == "namespace":
            self.advance()
            self.advance()
            if self.kind != "string":
                self.unexpected("a namespace in quotes")
            self.namespaces[""] = read_string(self)
        elif self.accept_word("order"):
            self.expect_word("empty")
            self.empty_greatest = self.is_word("greatest")
            self.advance()
        else:
            self.refuse(f"declare default {self.text}", at)

    def _variable_declaration(self) -> None:
        at, name = self.at, self.variable_name()
        type = self.sequence_type() if self.accept_word("as") else None
        if self.is_word("external"):
            self.refuse("an external variable", self.at, "write its value")
        self.expect(":=")
        value = converted(self.single(), type)
        if name in self.global_variables:
            self.fail(f"expected each variable once, found ${name} again", at)
        self._functions.append(UserFunction(f"${name}", (), value))
        self.global_variables.add(name)

    def _function_declaration(self) -> None:
        at, name = self.at, self.function_name(self.advance(), self.at)
        if not name.startswith("{"):
            self.fail("expected a function's name with a prefix, such as local:", at)
        parameters, _, given = self.signature()
        if self.is_word("external"):
            self.refuse("an external function", self.at)
        outer, self.variables = self.variables, dict.fromkeys(parameters)
        self.expect("{")
        body = self.expression()
        self.expect("}")
        self.variables = outer
        full = f"{name}#{len(parameters)}"
        if any(each.name == full for each in self._functions):
            self.fail(f"expected each function once, found {name.replace(f'{{{LOCAL}}}', 'local:')}() again", at)
        self._functions.append(UserFunction(full, tuple(parameters), converted(body, given)))

    def signature(self) -> tuple[list[str], FunctionSignature, SequenceType | None]:
        """The parameters of a function and their types, and the type of what it gives."""
        names: list[str] = []
        types: list[SequenceType | None] = []
        self.expect("(")
        while self.text != ")":
            names.append(self.variable_name())
            types.append(self.sequence_type() if self.accept_word("as") else None)
            if not self.accept(","):
                break
        self.expect(")")
        return names, FunctionSignature(tuple(types)), self.sequence_type() if self.accept_word("as") else None

    def _check_calls(self, body: QueryExpression) -> None:
        """No function may call itself, on whatever way."""
        calls = {each.name: _calls(each.body) for each in self._functions}
        done: set[str] = set()

        def visit(name: str, above: tuple[str, ...]) -> None:
            if name in above:
                shown = name.rpartition("#")[0].replace(f"{{{LOCAL}}}", "local:") or name
                self.refuse(f"a function that calls itself ({shown})", 0)
            if name not in done:
                for called in sorted(calls.get(name, ())):
                    visit(called, (*above, name))
                done.add(name)

        for name in sorted(_calls(body) | calls.keys()):
            visit(name, ())


def _calls(body: QueryExpression) -> set[str]:
    return {each.name for each in walk(body) if isinstance(each, UserCall)}
