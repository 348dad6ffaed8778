"""References in a document with a DOCTYPE: what they mean, and what they may come to."""

import subprocess
import sys
from html.entities import name2codepoint
from typing import Any
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from oracle import Oracle, described, table_of
from weft.documents import Document, Fragments, Limits, read
from weft.documents.document import EntityPolicy
from weft.errors import DocumentError

EXTERNAL = "<!DOCTYPE r SYSTEM 'never-read.dtd' [{}]>"
PARAMETER = "<!DOCTYPE r [<!ENTITY % p SYSTEM 'never-read.dtd'>{}%p;]>"
INTERNAL = "<!DOCTYPE r [{}]>"
RSS = '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">'
XHTML = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">'


def rejection(document: str, **limits: Any) -> DocumentError:
    table = read([Document(document)], Limits(**limits))
    assert not table.documents
    return table.rejected[0]


def written(document: str, **limits: Any) -> str:
    """The root as it is delivered."""
    table = read([Document(document)], Limits(**limits))
    assert not table.rejected, table.rejected[0]
    return Fragments(table).text(0)


def is_read_by_expat(document: str) -> bool:
    """With namespaces."""
    try:
        expat.ParserCreate(namespace_separator=" ").Parse(document, True)
    except expat.ExpatError:
        return False
    return True


# -- what is no reference


@pytest.mark.parametrize(
    "text", ["<![CDATA[&foo;]]>", "<!--&foo;-->", "<?p &foo;?>", "<![CDATA[&#38;foo;]]>", "&#38;#38;foo;"]
)
@pytest.mark.parametrize("doctype", [INTERNAL, EXTERNAL])
def test_what_looks_like_a_reference_in_the_text_of_an_entity_is_none(doctype: str, text: str) -> None:
    document = doctype.format(f"<!ENTITY e '{text}'>") + "<r>&e;</r>"

    found = described(table_of([document]))

    assert found == [Oracle(document).described]


def test_an_entity_that_nobody_refers_to_may_refer_to_what_nobody_declares() -> None:
    document = INTERNAL.format("<!ENTITY e '&u;'>") + "<r/>"

    assert written(document) == "<r></r>"
    assert etree.fromstring(document).tag == "r"


# -- colons


@pytest.mark.parametrize(
    "document",
    [
        "<r><?p:q x?></r>",
        "<?p:q x?><r/>",
        "<r/><?p:q?>",
        "<r>&a:b;</r>",
        "<r x='&a:b;'/>",
        INTERNAL.format("<?p:q x?>") + "<r/>",
        INTERNAL.format("<!ENTITY e 'x'>") + "<r><?p:q x?></r>",
        INTERNAL.format("<!ENTITY e '<?p:q x?>'>") + "<r>&e;</r>",
        INTERNAL.format("<!ENTITY a:b 'x'>") + "<r/>",
        INTERNAL.format("<!ENTITY a:b 'x'>") + "<r>&a:b;</r>",
        INTERNAL.format("<!ENTITY % a:b 'x'>") + "<r/>",
        INTERNAL.format("<!ENTITY e '&a:b;'>") + "<r/>",
        INTERNAL.format("<!NOTATION a:b SYSTEM 'x'>") + "<r/>",
        *(form.format("") + "<r>&a:b;</r>" for form in (EXTERNAL, PARAMETER)),
        *(form.format("") + "<r x='&a:b;'/>" for form in (EXTERNAL, PARAMETER)),
        RSS.replace("rss", "r", 1) + "<r>&a:b;</r>",
    ],
)
@pytest.mark.parametrize("policy", ["reject", "keep", "drop"])
def test_a_colon_in_the_name_of_an_entity_an_instruction_or_a_notation_is_an_error(document: str, policy: str) -> None:
    error = rejection(document, undeclared_entities=policy)

    assert not is_read_by_expat(document)
    assert error.offset >= min(document.find(sign) for sign in ("<?p:", "a:b") if sign in document) - 1


# -- undeclared entities


STANDALONE = "<?xml version='1.0' standalone='yes'?>"


@pytest.mark.parametrize("content", ["<r>1&u;2</r>", "<r x='1&u;2'/>", "<r><b/>&u;<b y='>' x='&lt;&u;'/></r>"])
@pytest.mark.parametrize(
    "head", ["", "<!DOCTYPE r>", INTERNAL.format("<!ENTITY e 'x'>"), STANDALONE + EXTERNAL.format("")]
)
@pytest.mark.parametrize("policy", ["reject", "keep", "drop"])
def test_an_entity_that_could_be_declared_nowhere_is_an_error_whatever_the_policy(
    head: str, content: str, policy: str
) -> None:
    error = rejection(head + content, undeclared_entities=policy)

    assert error.reason == "undefined entity"
    assert len(head) <= error.offset <= len(head) + content.index("&u;")


PLACES = (
    *("<r>1{}2</r>", "<r x='1{}2'/>", "<r>{}{}</r>", "<r><b y='>' x='&lt;{}'/>{}<b/></r>", "<r>{}<!--&u;--></r>"),
    *("<r>{}<![CDATA[&u;]]><?p &u;?></r>",),
)
DECLARED = (
    *(("", ""), ("<!ENTITY e '{}'>", "<r>&e;</r>"), ("<!ENTITY e '{}'>", "<r x='&e;'/>")),
    *(("<!ENTITY e '<b x=\"{}\"/>'>", "<r>&e;</r>"), ("<!ENTITY f '{}'><!ENTITY e '&f;'>", "<r x='1&e;2'>&e;</r>")),
    *(("<!ATTLIST r x CDATA '1{}2'>", "<r/>"), ("<!ATTLIST b x CDATA '1{}2'>", "<r><b/></r>")),
)


@pytest.mark.parametrize("form", [EXTERNAL, PARAMETER])
@pytest.mark.parametrize(("subset", "content"), [*(("", place) for place in PLACES), *DECLARED[1:]])
def test_what_becomes_of_an_entity_that_is_declared_outside_is_the_policy(form: str, subset: str, content: str) -> None:
    with_u = form.format(subset.replace("{}", "&u;")) + content.replace("{}", "&u;")
    written_so = "&#38;u;" if "ATTLIST" in subset else "&#38;#38;u;"
    kept = INTERNAL.format(subset.replace("{}", written_so)) + content.replace("{}", "&amp;u;")
    dropped = INTERNAL.format(subset.replace("{}", "")) + content.replace("{}", "")

    error = rejection(with_u)

    assert "&u;" in error.reason
    assert written(with_u, undeclared_entities="keep") == written(kept)
    assert written(with_u, undeclared_entities="drop") == written(dropped)


def test_an_entity_that_is_declared_behind_a_parameter_entity_is_not_known() -> None:
    document = "<!DOCTYPE r [<!ENTITY % p SYSTEM 'u'><!ENTITY e '1'>%p;<!ENTITY e '2'><!ENTITY f '3'>]><r>&e;&f;</r>"

    assert "&f;" in rejection(document).reason
    assert written(document, undeclared_entities="keep") == "<r>1&amp;f;</r>"


def test_the_place_of_an_undeclared_entity_is_that_in_the_document() -> None:
    document = EXTERNAL.format("<!ENTITY e 'é'>") + "\n<r>é\n &u;</r>"

    error = rejection(document)

    assert (error.line, error.column, error.offset) == (3, 2, len(document.encode()) - len("&u;</r>"))


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_an_external_entity_is_not_a_matter_of_that_policy(policy: str) -> None:
    document = EXTERNAL.format("<!ENTITY s SYSTEM 'x'>")

    assert "never fetched" in rejection(document + "<r>&s;</r>", undeclared_entities=policy).reason
    assert "external entity" in rejection(document + "<r x='&s;'/>", undeclared_entities=policy).reason


# -- names of HTML


@pytest.mark.parametrize("doctype", [RSS, XHTML, XHTML.replace("1.0 Strict", "1.1")])
@pytest.mark.parametrize("policy", ["reject", "keep", "drop"])
def test_the_names_of_html_are_known_where_its_public_identifier_is_named(doctype: str, policy: EntityPolicy) -> None:
    names = sorted(set(name2codepoint) - {"lt", "gt", "amp", "quot"})
    references = "".join(f"&{name};" for name in names)
    document = f"{doctype}<rss a='{references}'>{references}</rss>"

    table = read([Document(document)], Limits(undeclared_entities=policy))

    text = "".join(chr(name2codepoint[name]) for name in names)
    assert (list(table.texts), list(table.attribute_values)) == ([text], [text])


def test_a_document_may_declare_a_name_of_html_itself() -> None:
    document = RSS.replace(">", " [<!ENTITY uuml 'ue'>]>") + "<rss>&uuml;&auml;</rss>"

    assert written(document) == "<rss>ueä</rss>"


def test_other_names_and_other_public_identifiers_stay_a_matter_of_policy() -> None:
    assert "&klingon;" in rejection(RSS + "<rss>&uuml;&klingon;</rss>").reason
    assert "&uuml;" in rejection(RSS.replace("RSS 0.91", "RSS 0.9") + "<rss>&uuml;</rss>").reason


# -- any document


@st.composite
def generated(draw: st.DrawFn) -> tuple[str, str]:
    """Declarations and a root, with references to entities that may lie in each other."""
    pieces = [
        "x",
        " ",
        "<b/>",
        "<!--&u;-->",
        "<![CDATA[&u;&e0;]]>",
        "<?p &e1;?>",
        "&lt;",
        "&#65;",
        "&e0;",
        "<b a='&e0;'/>",
    ]
    declared = []
    for number in range(draw(st.integers(1, 4))):
        text = "".join(draw(st.lists(st.sampled_from(pieces if number else pieces[:8]), max_size=4)))
        declared.append(f'<!ENTITY e{number} "{text}">')
        pieces.append(f"&e{number};")
    content = "".join(draw(st.lists(st.sampled_from(pieces), max_size=6)))
    return "".join(declared), f"<r>{content}</r>"


@given(generated(), st.sampled_from([INTERNAL, EXTERNAL]))
def test_entities_are_expanded_as_lxml_expands_them(parts: tuple[str, str], form: str) -> None:
    document = form.format(parts[0]) + parts[1]
    try:
        expected = [Oracle(document).described]
    except etree.XMLSyntaxError:
        assert rejection(document).reason
    else:
        assert described(table_of([document])) == expected


WOUNDS = (
    "",
    "<",
    ">",
    "&",
    ";",
    '"',
    "'",
    "]",
    "%",
    "&u;",
    "&e9;",
    "]]>",
    "<!--",
    "<?p:q?>",
    "a:b",
    ":",
    "é",
    "[",
    "!",
    "?",
)


@given(generated(), st.integers(0), st.integers(0, 3), st.sampled_from(WOUNDS))
def test_a_damaged_document_with_a_doctype_is_rejected_if_and_only_if_expat_rejects_it(
    parts: tuple[str, str], at: int, cut: int, put: str
) -> None:
    document = INTERNAL.format(f"<!ATTLIST b c CDATA 'd&lt;'><?p q?>{parts[0]}<!-- c -->") + parts[1]
    at %= len(document)
    damaged = document[:at] + put + document[at + cut :]

    table = read([Document("<a/>", "before"), Document(damaged, "damaged"), Document("<a/>", "after")])

    assert [error.document for error in table.rejected] == ([] if is_read_by_expat(damaged) else ["damaged"])
    assert len(table.documents) + len(table.rejected) == 3


# -- what they come to


CHAIN = """
import sys
from weft.documents import Document, read
length = int(sys.argv[1])
for order in (range(1, length + 1), range(length, 0, -1)):
    chain = "".join(f"<!ENTITY e{n} '&e{n - 1};'>" for n in order)
    for content in (f"<r>&e{length};</r>", f"<r x='&e{length};'/>", f"<!ATTLIST r x CDATA '&e{length};'>"):
        subset, root = (content, "<r/>") if content.startswith("<!") else ("", content)
        document = f"<!DOCTYPE r [<!ENTITY e0 'x'>{chain}{subset}]>{root}"
        table = read([Document(document), Document("<a/>")])
        print(len(table.documents), *(error.reason for error in table.rejected))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("length", "expected"), [(999, "2"), (40_000, "1 entities nested deeper than 1000")])
def test_a_long_chain_of_entities_is_rejected_before_expat_crashes(length: int, expected: str) -> None:
    run = subprocess.run([sys.executable, "-c", CHAIN, str(length)], capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    told = run.stdout.splitlines()
    assert len(told) == 6
    for order in (told[:3], told[3:]):
        assert order[:2] == [expected] * 2
        assert order[2] in (expected, "1 undefined entity")  # declared behind its use


def test_entities_that_come_to_nothing_are_bounded_by_what_they_go_through() -> None:
    levels = "<!ENTITY e0 ''>" + "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 8))

    error = rejection(f"<!DOCTYPE r [{levels}]><r>&e7;</r>", max_bytes=1_000_000)

    assert "once its entities are expanded" in error.reason


def test_a_reference_in_a_section_comes_to_nothing() -> None:
    section = "<![CDATA[" + "&e;" * 1_000 + "]]>"
    document = f"<!DOCTYPE r [<!ENTITY e '{'x' * 1_000}'>]><r>{section}<!--{'&e;' * 1_000}-->&e;</r>"

    assert written(document, max_bytes=20_000).endswith("x</r>")


@pytest.mark.parametrize("kind", ["CDATA ''", "CDATA #IMPLIED", "ID #REQUIRED", "(a|b) 'a'"])
def test_attributes_are_declared_in_numbers_that_an_element_may_have(kind: str) -> None:
    def document(number: int) -> str:
        return f"<!DOCTYPE r [<!ATTLIST b{''.join(f' a{n} {kind}' for n in range(number))}>]><r/>"

    error = rejection(document(11), max_attributes=10)

    assert error.reason == "11 attributes declared for <b>, more than 10"
    assert written(document(10), max_attributes=10) == "<r></r>"


def test_declarations_are_bounded_in_number() -> None:
    declared = "".join(f"<!ENTITY e{n} ''>" for n in range(100_001))

    assert rejection(f"<!DOCTYPE r [{declared}]><r/>").reason.startswith("more than 100000 declarations")
