"""The element graph, the content models and the attributes that a DTD gives."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.documents.dtd import Child, ContentGroup, DeclaredAttribute, Dtd, Leaf
from weft.errors import ConfigurationError

BOOK = """<?xml version="1.0" encoding="iso-8859-1"?>
<!ELEMENT book (title, author+, section*)>
<!ELEMENT title (#PCDATA)>
<!ELEMENT author (#PCDATA)>
<!ELEMENT section (title, (p | figure | section)*)>
<!ATTLIST section id ID #IMPLIED difficulty (low | high) "low" xml:lang CDATA #FIXED "é&amp;&lt;">
<!ELEMENT figure (image?)>
<!ELEMENT image EMPTY>
<!ATTLIST image source CDATA #REQUIRED xmlns:x CDATA #IMPLIED>
<!ELEMENT p (#PCDATA | em)*>
<!ELEMENT em (#PCDATA)>
"""


@pytest.fixture(scope="module")
def book() -> Dtd:
    return Dtd.parse(BOOK)


def test_the_names_are_the_declared_elements_in_their_order(book: Dtd) -> None:
    assert book.names == ("book", "title", "author", "section", "figure", "image", "p", "em")


def test_the_children_are_in_the_order_of_their_first_mention(book: Dtd) -> None:
    assert book.children("section") == ("title", "p", "figure", "section")
    assert book.children("p") == ("em",)
    assert book.children("image") == ()


def test_the_root_is_the_first_element_that_no_other_contains() -> None:
    assert Dtd.parse("<!ELEMENT b EMPTY><!ELEMENT a (b, a?)><!ELEMENT c (b)>").root == "a"


def test_the_root_is_the_first_element_where_each_is_in_another() -> None:
    assert Dtd.parse("<!ELEMENT b (a?)><!ELEMENT a (b?)>").root == "b"


def test_the_root_can_be_given(book: Dtd) -> None:
    assert Dtd.parse(BOOK, root="section").root == "section"
    assert book.root == "book"


def test_a_root_that_is_not_declared_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no element 'chapter'"):
        Dtd.parse(BOOK, root="chapter")


def test_text_is_told_apart_from_element_content(book: Dtd) -> None:
    with_text = [name for name in book.names if book.has_text(name)]
    assert with_text == ["title", "author", "p", "em"]


def test_any_holds_text_and_all_elements() -> None:
    dtd = Dtd.parse("<!ELEMENT a ANY><!ELEMENT b EMPTY>")
    assert dtd.content("a") is Leaf.ANY
    assert dtd.children("a") == ("a", "b")
    assert dtd.has_text("a")
    assert dtd.on_loop("a")


def test_an_undeclared_child_is_in_the_content_but_not_in_the_graph() -> None:
    dtd = Dtd.parse("<!ELEMENT a (b | c)><!ELEMENT b EMPTY><!ATTLIST d e CDATA #IMPLIED>")
    assert dtd.children("a") == ("b",)
    assert dtd.content("a") == ContentGroup("choice", (Child("b"), Child("c")))
    assert dtd.names == ("a", "b")


def test_attributes_are_what_xpath_can_see(book: Dtd) -> None:
    assert set(book.attributes("section")) == {"id", "difficulty", "xml:lang"}
    assert book.attributes("image") == ("source",)
    assert book.attributes("title") == ()


def test_attribute_declarations_tell_type_values_and_default(book: Dtd) -> None:
    declared = {attribute.name: attribute for attribute in book.declaration("section").attributes}
    assert declared["id"] == DeclaredAttribute("id", "id", "implied")
    assert declared["difficulty"] == DeclaredAttribute("difficulty", "enumeration", "none", "low", ("low", "high"))
    assert declared["xml:lang"] == DeclaredAttribute("xml:lang", "cdata", "fixed", "é&<")


def test_content_models_keep_order_choice_and_occurrence(book: Dtd) -> None:
    blocks = ContentGroup("choice", (Child("p"), Child("figure"), Child("section")), "mult")
    assert book.content("section") == ContentGroup("sequence", (Child("title"), blocks))
    assert book.content("book") == ContentGroup(
        "sequence", (Child("title"), Child("author", "plus"), Child("section", "mult"))
    )
    assert book.content("figure") == Child("image", "opt")
    assert book.content("image") is Leaf.EMPTY
    assert book.content("title") is Leaf.TEXT
    assert book.content("p") == ContentGroup("choice", (Leaf.TEXT, Child("em")), "mult")


def test_a_nested_group_with_its_own_occurrence_stays_a_group() -> None:
    dtd = Dtd.parse("<!ELEMENT a (b, (c, d)+, (e, f))>" + "".join(f"<!ELEMENT {name} EMPTY>" for name in "bcdef"))
    inner = ContentGroup("sequence", (Child("c"), Child("d")), "plus")
    assert dtd.content("a") == ContentGroup("sequence", (Child("b"), inner, Child("e"), Child("f")))


def test_a_very_long_choice_is_read() -> None:
    names = [f"e{number}" for number in range(3000)]
    dtd = Dtd.parse(f"<!ELEMENT a ({' | '.join(names)})>" + "".join(f"<!ELEMENT {name} EMPTY>" for name in names))
    assert dtd.children("a") == tuple(names)


def test_loops_are_cycles_of_any_length() -> None:
    dtd = Dtd.parse(
        "<!ELEMENT r (a, s)><!ELEMENT a (b?)><!ELEMENT b (a?, c)><!ELEMENT c (#PCDATA)><!ELEMENT s (s?, a)>"
    )
    assert [name for name in dtd.names if dtd.on_loop(name)] == ["a", "b", "s"]
    assert dtd.same_loop("a", "b")
    assert dtd.same_loop("s", "s")
    assert not dtd.same_loop("a", "s")
    assert not dtd.same_loop("c", "c")


def test_single_path_of_the_book(book: Dtd) -> None:
    assert book.single_path("figure", "image") == ("image",)
    assert book.single_path("book", "author") == ("author",)
    assert book.single_path("book", "image") is None
    assert book.single_path("section", "section") is None
    assert book.single_path("p", "book") is None
    assert book.single_path("em", "em") is None


GRAPHS = st.integers(1, 5).flatmap(
    lambda size: st.lists(st.sets(st.integers(0, size - 1)), min_size=size, max_size=size)
)


def walks(graph: list[set[int]], a: int, b: int) -> list[tuple[int, ...]]:
    """Walks from a to b: none, the only one, or several: 3n steps show each loop on the way."""
    found: list[tuple[int, ...]] = []
    ahead: dict[int, list[tuple[int, ...]]] = {a: [()]}
    for _ in range(3 * len(graph)):
        longer: dict[int, list[tuple[int, ...]]] = {}
        for node, paths in ahead.items():
            for child in graph[node]:
                longer[child] = (longer.get(child, []) + [(*path, child) for path in paths])[:2]
        ahead = longer
        found += ahead.get(b, [])
    return found


@given(GRAPHS, st.data())
def test_single_path_is_what_enumeration_of_all_paths_finds(graph: list[set[int]], data: st.DataObject) -> None:
    models = [" | ".join(f"e{child}" for child in sorted(children)) for children in graph]
    dtd = Dtd.parse("".join(f"<!ELEMENT e{i} {f'({model})*' if model else 'EMPTY'}>" for i, model in enumerate(models)))
    a, b = data.draw(st.tuples(*[st.integers(0, len(graph) - 1)] * 2))
    found = walks(graph, a, b)
    expected = tuple(f"e{node}" for node in found[0]) if len(found) == 1 else None
    assert dtd.single_path(f"e{a}", f"e{b}") == expected


@given(GRAPHS)
def test_an_element_is_on_a_loop_if_a_path_leads_from_it_to_itself(graph: list[set[int]]) -> None:
    models = [" | ".join(f"e{child}" for child in sorted(children)) for children in graph]
    dtd = Dtd.parse("".join(f"<!ELEMENT e{i} {f'({model})*' if model else 'EMPTY'}>" for i, model in enumerate(models)))
    for node in range(len(graph)):
        assert dtd.on_loop(f"e{node}") == bool(walks(graph, node, node))


@pytest.mark.parametrize("ask", ["children", "attributes", "has_text", "on_loop", "content", "declaration"])
def test_an_unknown_element_is_a_key_error_that_names_it(book: Dtd, ask: str) -> None:
    with pytest.raises(KeyError, match="declares no element 'chapter'"):
        getattr(book, ask)("chapter")


@pytest.mark.parametrize("pair", [("chapter", "title"), ("book", "chapter"), ("title", "chapter")])
def test_an_unknown_element_of_a_pair_is_a_key_error(book: Dtd, pair: tuple[str, str]) -> None:
    with pytest.raises(KeyError, match="declares no element 'chapter'"):
        book.single_path(*pair)


def test_a_wrong_declaration_is_told_with_file_line_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "wrong.dtd"
    path.write_text("<!ELEMENT a (b)>\n<!ELEMENT b (a,|a)>\n")
    with pytest.raises(ConfigurationError, match=r"wrong\.dtd:2: not a DTD: .*expected"):
        Dtd.load(path)


@pytest.mark.parametrize("text", ["<a/>", "<!ELEMENT a", "<!ELEMENT a EMPTY><!ELEMENT a ANY>", "\0", "hello"])
def test_what_is_no_dtd_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"<DTD>:\d+: not a DTD: "):
        Dtd.parse(text)


@pytest.mark.parametrize("text", ["", "<!-- nothing -->", "<!ATTLIST a b CDATA #IMPLIED>"])
def test_a_dtd_without_elements_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="declares no element"):
        Dtd.parse(text)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.dtd: the DTD cannot be read: No such file"):
        Dtd.load(tmp_path / "none.dtd")


def test_an_external_entity_is_refused_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "other.ent").write_text("<!ELEMENT b EMPTY>")
    path = tmp_path / "outer.dtd"
    for system in ("other.ent", (tmp_path / "other.ent").as_uri(), "http://localhost:9/x.ent", "weft.dtd"):
        path.write_text(f'<!ELEMENT a (b)><!ENTITY % other SYSTEM "{system}"> %other;')
        with pytest.raises(ConfigurationError, match="is not fetched"):
            Dtd.load(path)


def test_an_entity_that_explodes_is_refused() -> None:
    entities = "".join(f'<!ENTITY % e{n} "{f"&#37;e{n - 1};" * 10}">' for n in range(1, 12))
    with pytest.raises(ConfigurationError, match="not a DTD"):
        Dtd.parse(f"<!ENTITY % e0 '<!-- {'x' * 100} -->'>{entities}<!ELEMENT a EMPTY>%e11;")


def test_internal_entities_and_conditional_sections_are_read() -> None:
    dtd = Dtd.parse(
        '<!ENTITY % inline "b | c"><!ELEMENT a (%inline;)*><!ELEMENT b EMPTY><![INCLUDE[<!ELEMENT c EMPTY>]]>'
    )
    assert dtd.children("a") == ("b", "c")


def test_a_file_in_another_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "latin.dtd"
    path.write_bytes('<?xml version="1.0" encoding="iso-8859-1"?><!ELEMENT é EMPTY>'.encode("latin-1"))
    assert Dtd.load(str(path)).names == ("é",)


def test_prefixes_are_part_of_the_names() -> None:
    dtd = Dtd.parse("<!ELEMENT p:a (p:b | c)><!ELEMENT p:b EMPTY><!ELEMENT c EMPTY>")
    assert dtd.children("p:a") == ("p:b", "c")


def test_names_that_differ_in_prefix_only_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="differ in their prefix only"):
        Dtd.parse("<!ELEMENT p:a (a)><!ELEMENT a EMPTY>")


def test_equal_dtds_are_one_key_and_survive_pickling(book: Dtd) -> None:
    again = pickle.loads(pickle.dumps(book))
    assert len({book, again, Dtd.parse(BOOK)}) == 1
    assert again.single_path("figure", "image") == ("image",)
