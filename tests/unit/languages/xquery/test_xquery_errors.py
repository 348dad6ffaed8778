"""What the shared plan does not have, by which name; and what is refused, by which name and at which place."""

import pytest

from weft.errors import QueryError, UnsupportedError
from weft.languages import parse
from weft.plans.lone_query import LoneQuery

#: What is worked out alone, and why; a column where the place is told.
UNSUPPORTED = {
    "<r>{ for $a in /x, $b in /y return $a }</r>": ("a second variable from the document", 26),
    "<r>{ let $a := /x return $a }</r>": ("a FLWR expression without for", 19),
    "<r>{ for $a in /x let $l := //y return $l }</r>": ("a path from the document in a return", 40),
    "<r>{ for $a in /x let $l := //y return count($l/b) }</r>": ("a path from the document in a return", 46),
    "<r>{ for $a in /x let $l := (1, $a) return $a }</r>": ("a list of anything but constants", 31),
    "for $a in //x return $a/b": ("a FLWR expression like this without an enclosing element", 1),
    "for $a in //x, $b in $a/b return $b": ("a FLWR expression like this without an enclosing element", 1),
    "for $a in /x, $b in $a/b return $a": ("a FLWR expression like this without an enclosing element", 1),
    "for $a in /x order by $a/b return $a": ("a FLWR expression like this without an enclosing element", 1),
    "for $a in /x return <i>{ $a }</i>": ("a FLWR expression like this without an enclosing element", 1),
    "for $a in /x return ($a, $a)": ("a FLWR expression like this without an enclosing element", 1),
    "for $a in doc('s')/x return $a": ("a FLWR expression like this without an enclosing element", 1),
    "<r>{ for $a at $i in /x return $a }</r>": ("at in a for clause", 13),
    "<r>{ for $a as element() in /x return $a }</r>": ("as in a for clause", 13),
    "<r>{ for $a in /x let $l as item() := $a return $l }</r>": ("as in a let clause", 26),
    "<r>{ for $a in /x, $b in $a return $b }</r>": ("for over a variable itself", 26),
    "<r>{ for $a in /x return for $b in $a/b return $b }</r>": ("a FLWR expression in a return", 26),
    "<r>{ for $a in /x return <i>{ for $b in $a/b return $b }</i> }</r>": ("a second FLWR expression", 31),
    "<r>{ for $a in /x return $a }{ for $b in /y return $b }</r>": ("a second FLWR expression", 32),
    "<r>{ for $a in /x return string($a) }</r>": ("the function string() in a return", 26),
    "<r>{ for $a in /x return <i>{ $a[1] }</i> }</r>": ("a predicate on a variable", 33),
    "<r>{ for $a in /x where b = 1 return $a }</r>": ("a path that does not start at a variable", 25),
    "<r>{ for $a in /x where contains(b, 'c') return $a }</r>": ("a path that does not start at a variable", 34),
    "<r>{ for $a in /x where $a/b eq 1 return $a }</r>": ("eq between values of two types", 33),
    "<r>{ for $a in /x where position() = 1 return $a }</r>": ("a position other than among children", 25),
    "<r>{ for $a in /x order by $a/b empty least return $a }</r>": ("empty in order by", 33),
    "<r>{ for $a in /x return <i k='{ $a/b, $a/c }'/> }</r>": ("anything but one path or count in the braces", None),
    "<r>{ for $a in /x return <i k='{ <j/> }'/> }</r>": ("anything but one path or count in the braces", None),
    "<r k='{ for $a in /x return $a }'/>": ("anything but one path or count in the braces", None),
    "<r>{ for $a in /x return <i><!-- c --></i> }</r>": ("a comment or instruction in a constructor", 29),
    "<r>{ for $a in /x return <i><?p c?></i> }</r>": ("a comment or instruction in a constructor", 29),
    "<r>{ for $a in /x return <i xmlns='u'/> }</r>": ("a namespace declaration in a constructor", 29),
    "<r>{ for $a in /x return <i xmlns:p='u'/> }</r>": ("a namespace declaration in a constructor", 29),
    "(: c :) let $a := /x return $a": ("a FLWR expression without for", 22),
    "if (/x) then /y else /z": ("if … then … else at the start of a query", 1),
    "some $a in /x satisfies $a/b": ("some … satisfies at the start of a query", 1),
    "declare variable $x := 1; <r/>": ("declare variable", 1),
    "<r>{ for $a in /x return if ($a/b) then $a else () }</r>": ("if … then … else in a return", 26),
    "<r>{ for $a in /x return element { 'e' } { $a } }</r>": ("a computed element in a return", 26),
    "<r>{ for $a in /x where string() = 'x' return $a }</r>": ("a function without an argument", 25),
    "<r>{ for $a in /x where $a/b = true() return $a }</r>": ("a comparison like this", 32),
    "<r>{ for $a in /x where string($a/b) = 1 return $a }</r>": ("a comparison like this", 40),
    "<r>{ for $a in /x where 1 div 3 = $a/b return $a }</r>": ("div that does not come out even", 27),
    "<r>{ /x/a }</r>": ("anything but a FLWR expression in the braces of the enclosing element", 6),
    "<r>{ 'x' }</r>": ("anything but a FLWR expression in the braces of the enclosing element", 6),
}
#: What is refused by its name.
UNKNOWN = {
    "<r>{ for $a in /x order by $a/b collation 'c' return $a }</r>": ("collation in order by", 33),
    "<r>{ for $a in /x group by $k := $a/b collation 'c' return $a }</r>": ("collation in group by", 39),
    "<r>{ for $a in /x where " + "(" * 60 + "$a" + ")" * 60 + " return $a }</r>": ("nesting deeper than 50", None),
    "<r>{ for $a in /x" + "[b" * 60 + "]" * 60 + " return $a }</r>": ("nesting deeper than 50", None),
    "for $a in /x return typeswitch ($a) case element() return 1 default return 2": ("typeswitch", 21),
    "for $a in /x return try { $a/b } catch * { 1 }": ("try", 21),
    "for tumbling window $w in /x/a return $w": ("a window", 1),
    "for $a in /x return function($b) { $b }": ("a function as a value", 21),
    "for $a in /x return local:f#1": ("a function as a value", 21),
    "for $a in /x return current-date()": ("the function current-date()", 21),
    "for $a in /x return xs:int($a)": ("the function xs:int()", 21),
    "for $a in /x return $a cast as xs:int": ("the type xs:int", 32),
    "for $a in /x return $a/comment()": ("comment()", 24),
    "for $a in /x return $a/namespace::b": ("the axis namespace::", 24),
    "for $a in doc('x')/b, $c in doc('y')/d return $a": ("several documents at once", 29),
    "for $a in /x return doc($a/b)": ("a document whose name is worked out", 21),
    "for $a in /x return map { 'a': 1 }": ("map", 21),
    "for $a in /x return validate { $a }": ("validate", 21),
    "import module 'x'; for $a in /x return 1 + $a": ("import module", 1),
    "declare variable $x external; for $a in /x return 1 + $x": ("an external variable", 21),
    "declare option local:x 'y'; for $a in /x return 1 + $a": ("declare option", 9),
    "declare function local:f($a) { local:g($a) }; declare function local:g($a) { local:f($a) }; local:f(//x)": (
        "a function that calls itself (local:f)",
        1,
    ),
}
WRONG = {
    "": ("expected an expression, found the end of the query", 1, 1),
    "<r>{ (: for $a (: in :) /x return $a }</r>": ("a comment that starts with (: does not end", 1, 6),
    "<": ("expected the name of an element", 1, 2),
    "<r": ("expected >, /> or an attribute in <r", 1, 3),
    "<r>": ("<r> does not end", 1, 4),
    "<r></s>": ("expected </r>, found </s", 1, 4),
    "<r>{ for $a in /x return $a }</r": ("expected >", 1, 33),
    "<r>{ for $a in /x return $a }</r>x": ("expected the end of the query, found 'x'", 1, 34),
    "<r>{ for $a in /x return $a </r>": ("expected '}', found '>'", 1, 32),
    "<r>{ for $a of /x return $a }</r>": ("expected in, found 'of'", 1, 13),
    "<r>{ for $p:a in /x return $a }</r>": ("expected a declared prefix, found 'p'", 1, 11),
    "<r>{ for $a in /x }</r>": ("expected return, found '}'", 1, 19),
    "<r>{ for $a in /x return $b }</r>": ("expected a variable that is bound, found $b", 1, 26),
    "<r>{ for $a in $b/x return $a }</r>": ("expected a variable that is bound, found $b", 1, 16),
    "<r>{ for $a in /x let $l = $a/b return $l }</r>": ("expected ':=', found '='", 1, 26),
    "<r>{ for $a in /x where $a/b[ return $a }</r>": ("expected ']', found '$'", 1, 38),
    "<r>{ for $a in /x order $a return $a }</r>": ("expected by, found '$'", 1, 25),
    "<r>{ for $a in /x return ($a }</r>": ("expected ')', found '}'", 1, 30),
    "<r>{ for $a in /x return 'x }</r>": ("a string that starts with ' does not end", 1, 26),
    "<r>{ for $a in q:x return $a }</r>": ("expected a declared prefix, found 'q'", 1, 16),
    "<r>{ for $a in document(x)/x return $a }</r>": ("expected the name of a stream in quotes, found 'x'", 1, 25),
    "<r>{ for $a in doc('x'/x return $a }</r>": ("expected ')', found 'return'", 1, 26),
    "<r>{ for $a in /x return <i>{ $a }</j> }</r>": ("expected </i>, found </j", 1, 35),
    "<r>{ for $a in /x return <1/> }</r>": ("expected the name of an element", 1, 27),
    "<r>{ for $a in /x return <i k/> }</r>": ("expected =", 1, 30),
    "<r>{ for $a in /x return <i k=v/> }</r>": ("expected an attribute value in quotes", 1, 31),
    "<r>{ for $a in /x return <i k='1'l='2'/> }</r>": ("expected >, /> or an attribute in <i", 1, 34),
    "<r>{ for $a in /x return <i k='1' k='2'/> }</r>": ("expected each attribute once, found 'k' again", 1, 35),
    "<r>{ for $a in /x return <i k='<'/> }</r>": ("expected &lt; in an attribute value, found <", 1, 32),
    "<r>{ for $a in /x return <i k='v": ("an attribute value does not end", 1, 33),
    "<r>{ for $a in /x return <i k='}'/> }</r>": ("expected }} for a brace in text, found }", 1, 32),
    "<r>{ for $a in /x return <i>}</i> }</r>": ("expected }} for a brace in text, found }", 1, 29),
    "<r>{ for $a in /x return <i>&nbsp;</i> }</r>": ("expected a character reference or one of", 1, 29),
    "<r>{ for $a in /x return <i>a & b</i> }</r>": ("expected a character reference or one of", 1, 31),
    "<r>{\n  for $a in /x\n  where $a/b = 'c'\n  retrun $a\n}</r>": (
        "expected return, found 'retrun'", 4, 3,
    ),
    "<r>{\n  for $a in /x\n  return <i>\n    <j>{ $b }</j>\n  </i>\n}</r>": (
        "expected a variable that is bound, found $b", 4, 10,
    ),
}  # fmt: skip
#: What reads like a query and cannot be answered, and why.
REFUSED = {
    "<r>{ for $a in /x return }</r>": "nothing to return",
    "<r>{ for $a in /x return <p:i/> }</r>": "an empty element with a prefix, which makes no well-formed message",
    "<r>{ for $a in /x return $a }{ $a }</r>": "a variable outside its FLWR expression, which is dropped",
    "<r>{ for $a in /x return $a }<n>{ count($a) }</n></r>": "a variable outside its FLWR expression",
    "<r>{ for $a in /x return <i>&#0;</i> }</r>": "a reference to a character that XML does not have",
    "<r>{ for $a in /x return <i>&#1;</i> }</r>": "a reference to a character that XML does not have",
    "<r>{ for $a in /x return " + "<i>" * 1_000 + "</i>" * 1_000 + " }</r>": "constructors in too many constructors",
}


@pytest.mark.parametrize("query", UNSUPPORTED)
def test_what_the_shared_plan_does_not_have_is_worked_out_alone_and_told_by_name(query: str) -> None:
    feature, _ = UNSUPPORTED[query]

    plan = parse(query, "xquery")

    assert isinstance(plan, LoneQuery)
    assert plan.why.startswith(feature)


@pytest.mark.parametrize("query", UNKNOWN)
def test_what_weft_does_not_have_is_refused_by_name_and_place(query: str) -> None:
    feature, column = UNKNOWN[query]

    with pytest.raises(UnsupportedError) as caught:
        parse(query, "xquery")

    assert caught.value.feature.startswith(feature)
    assert caught.value.language == "XQuery"
    assert column is None or caught.value.column == column


@pytest.mark.parametrize("query", WRONG)
def test_a_syntax_error_tells_place_expectation_and_finding(query: str) -> None:
    reason, line, column = WRONG[query]

    with pytest.raises(QueryError) as caught:
        parse(query, "xquery")

    assert not isinstance(caught.value, UnsupportedError)
    assert caught.value.reason.startswith(reason)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "query",
    [*REFUSED, "<r><![CDATA[x</r>"],
)
def test_what_cannot_be_answered_is_refused(query: str) -> None:
    with pytest.raises(QueryError):
        parse(query)


def test_the_caret_stands_under_the_place() -> None:
    with pytest.raises(QueryError) as caught:
        parse("<r>{\n  for $a in /x\n  return $b }</r>")

    assert str(caught.value).splitlines() == [
        "XQuery 3:10: expected a variable that is bound, found $b",
        "    return $b }</r>",
        "           ^",
    ]


def test_a_refusal_tells_what_to_do_instead() -> None:
    with pytest.raises(UnsupportedError) as caught:
        parse("for $a in //x return try { $a/b } catch * { 1 }")

    assert caught.value.instead == "say what may fail in a condition before"
