"""FLWR queries made from a DTD parse here and in Saxon, can be matched and follow the parameters."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from saxonche import PySaxonProcessor

from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError
from weft.languages.xquery import parse_flwr
from weft.workload import SHIPPED, generate_documents, generate_flwr, shipped, value_text

EVERYTHING: dict[str, Any] = {
    "binding_predicates": 0.5,
    "where_or": 0.5,
    "second_variable": 0.5,
    "let": 0.5,
    "order_by": 0.5,
    "attributes": 0.5,
    "texts": 0.5,
    "counts": 0.5,
    "comparison": "mixed",
}
ALWAYS = {name: "mixed" if name == "comparison" else 1.0 for name in EVERYTHING}
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"depth": 3, "predicate_paths": 3, "return_paths": 4, "descendant": 0.4, "words": 1},
    {"depth": 5, "predicate_paths": 0, "return_paths": 1, "path_depth": 3, "where_or": 0.5},
    EVERYTHING,
    {"depth": 3, "path_depth": 1, **EVERYTHING},
    {"depth": 4, "predicate_paths": 2, "descendant": 0.5, **ALWAYS},
]
FORM = re.compile(r"<result>\{ for \$v in (\S+)(?: where (.+?))? return <item>(.+)</item> \}</result>")
TEST = re.compile(r'\$v(\S+) = "([^"]*)"')


def parts(query: str) -> tuple[str, list[tuple[str, str]], list[str]]:
    """The binding path, the predicate paths with their constants and the return paths of the paper's form."""
    found = FORM.fullmatch(query)
    assert found, query
    tests = TEST.findall(found[2] or "")
    assert " and ".join(f'$v{path} = "{value}"' for path, value in tests) == (found[2] or "")
    returned = re.findall(r"\{ \$v(\S+) \}", found[3])
    assert "".join(f"{{ $v{path} }}" for path in returned) == found[3]
    return found[1], tests, returned


def all_parts(dtd: Dtd, **parameters: Any) -> list[tuple[str, list[tuple[str, str]], list[str]]]:
    return [parts(query) for query in generate_flwr(dtd, **{"number": 500, "words": 1, **parameters})]


def names(path: str) -> list[str]:
    return re.findall(r"[^/]+", path)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("name", SHIPPED)
def test_every_query_parses(name: str, parameters: dict[str, Any]) -> None:
    for query in generate_flwr(shipped(name), number=300, distinct=False, **parameters):
        assert parse_flwr(query).variables[0].name == "v"


@pytest.fixture(scope="module")
def saxon() -> Iterator[PySaxonProcessor]:
    with PySaxonProcessor(license=False) as processor:
        yield processor


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("name", SHIPPED)
def test_saxon_runs_every_query_without_an_error(
    saxon: PySaxonProcessor, name: str, parameters: dict[str, Any]
) -> None:
    (document,) = generate_documents(shipped(name), number=1, elements=300, values=10, repeats=6)
    processor = saxon.new_xquery_processor()
    processor.set_context(xdm_item=saxon.parse_xml(xml_text=document.decode()))

    for query in generate_flwr(shipped(name), number=60, distinct=False, **parameters):
        processor.set_query_content(query)

        assert "<result" in processor.run_query_to_string(), query


def test_many_queries_find_something(saxon: PySaxonProcessor) -> None:
    dtd = shipped("bibliography")
    (document,) = generate_documents(dtd, number=1, depth=4, repeats={"book": 40, "*": 5}, elements=250, values=10)
    processor = saxon.new_xquery_processor()
    processor.set_context(xdm_item=saxon.parse_xml(xml_text=document.decode()))
    found = 0

    for query in generate_flwr(dtd, number=100):
        processor.set_query_content(query)
        found += "<item" in processor.run_query_to_string()

    assert found > 50


def test_queries_depend_on_the_seed_alone() -> None:
    first, again, other = (generate_flwr(shipped("news"), number=50, seed=seed, **EVERYTHING) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.slow
def test_distinct_queries_are_as_many_as_asked_for_and_all_different() -> None:
    queries = generate_flwr(shipped("bibliography"), number=20_000)
    assert len(queries) == len(set(queries)) == 20_000


@pytest.mark.slow
def test_a_hundred_thousand_distinct_book_queries_can_be_had() -> None:
    assert len(set(generate_flwr(shipped("book"), number=100_000, depth=3, values=100))) == 100_000


def test_the_dtd_limits_how_many_are_distinct() -> None:
    # One binding path, 9 predicate paths with one value each, and two out of 10 return paths.
    limited: dict[str, Any] = {"descendant": 0, "values": 1}
    assert len(set(generate_flwr(shipped("bibliography"), number=9 * 45, **limited))) == 405
    with pytest.raises(
        ConfigurationError, match=r"found only 405 distinct queries of 406: the DTD with root 'bib' limits"
    ):
        generate_flwr(shipped("bibliography"), number=406, **limited)


def test_without_distinct_queries_repeat() -> None:
    queries = generate_flwr(shipped("bibliography"), number=1000, descendant=0, values=1, distinct=False)
    assert len(queries) == 1000
    assert len(set(queries)) < 406


@pytest.mark.parametrize(
    ("name", "depth", "bound"),
    [
        ("bibliography", 1, {"bib"}),
        ("bibliography", 2, {"book"}),
        ("bibliography", 9, {"author", "editor"}),
        ("book", 3, {"section", "figure"}),
    ],
)
def test_binding_paths_end_at_elements_with_paths_below(name: str, depth: int, bound: set[str]) -> None:
    assert {names(binding)[-1] for binding, _, _ in all_parts(shipped(name), depth=depth, values=100)} == bound


def test_binding_paths_are_as_deep_as_asked_for_where_the_graph_allows() -> None:
    for name, depth, deep in [("news", 5, 5), ("book", 4, 4), ("bibliography", 4, 3)]:
        found = all_parts(shipped(name), depth=depth, descendant=0, distinct=False)
        assert {len(names(binding)) for binding, _, _ in found} == {deep}


@pytest.mark.parametrize(("predicates", "returns"), [(0, 1), (1, 2), (3, 4)])
def test_there_are_so_many_different_predicate_and_return_paths_in_order(predicates: int, returns: int) -> None:
    for _, tests, returned in all_parts(
        shipped("book"), predicate_paths=predicates, return_paths=returns, depth=3, distinct=False
    ):
        assert len({path for path, _ in tests}) == len(tests) == predicates
        assert len(set(returned)) == len(returned) == returns
        assert [f'$v{path} = "{value}"' for path, value in tests] == sorted(f'$v{p} = "{v}"' for p, v in tests)
        assert returned == sorted(returned)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_paths_have_at_most_so_many_steps(depth: int) -> None:
    found = all_parts(shipped("news"), path_depth=depth, depth=3)
    assert {len(names(path)) for _, tests, _ in found for path, _ in tests} == set(range(1, depth + 1))
    assert {len(names(path)) for _, _, returned in found for path in returned} == set(range(1, depth + 1))


def test_without_descendants_each_path_is_one_of_the_graph() -> None:
    dtd = shipped("auction")
    for binding, tests, returned in all_parts(dtd, descendant=0, depth=3):
        assert names(binding)[0] == dtd.root
        for path in [*returned, *(path for path, _ in tests)]:
            *above, last = names(binding + path)
            assert all(below in dtd.children(name) for name, below in pairwise(above))
            assert last in dtd.children(above[-1]) or last[1:] in dtd.attributes(above[-1])


@pytest.mark.parametrize("descendant", [0.0, 0.2, 0.4, 1.0])
def test_descendant_is_the_share_of_steps_of_every_path(descendant: float) -> None:
    found = all_parts(shipped("news"), number=3000, descendant=descendant, depth=4, distinct=False)
    bindings = [binding for binding, _, _ in found]
    compared = [path for _, tests, _ in found for path, _ in tests]
    returned = [path for _, _, paths in found for path in paths]
    for paths in (bindings, compared, returned):
        axes = [axis for path in paths for axis in re.findall("/+", path)]
        # Return paths of a query are different, which favours the rarer ones a little.
        assert axes.count("//") / len(axes) == pytest.approx(descendant, abs=0.03)


def test_predicates_compare_texts_and_attributes_with_the_values_of_documents() -> None:
    found = all_parts(shipped("bibliography"), number=2000, values=5, words=3)
    tests = [test for _, tests, _ in found for test in tests]
    phrases = {value_text(value, 3) for value in range(5)}
    assert {names(path)[-1] for path, _ in tests} == {
        "@year", "title", "last", "first", "affiliation", "publisher", "price",
    }  # fmt: skip
    assert {value for path, value in tests if path.endswith("@year")} == set("01234")
    assert {value for path, value in tests if not path.endswith("@year")} == phrases


def test_return_paths_end_anywhere() -> None:
    found = all_parts(shipped("bibliography"), number=2000)
    ends = {names(path)[-1] for _, _, returned in found for path in returned}
    assert ends == {"title", "author", "editor", "publisher", "price", "last", "first", "affiliation"}


@pytest.mark.parametrize(
    ("parameter", "sign"),
    [
        ("binding_predicates", r"for \$v in [^ ]*\["),
        ("where_or", r" or "),
        ("second_variable", r", \$w in \$v/.*\{ (count\()?\$w"),
        ("let", r" let \$l := \$[vw]/.*\{ (count\()?\$l"),
        ("order_by", r" order by \$\w/@\w+( ascending| descending)? return"),
        ("attributes", r'<item( key="[^"]*\{ .*\}"|>\{ \$v/@\w+ \})'),
        ("texts", r"<item>.*\{ \$v[^ ]*/text\(\) \}"),
        ("counts", r"<item>.*\{ count\(\$v[^ ]*\)"),
    ],
)
def test_a_probability_says_how_often_something_is_there(parameter: str, sign: str) -> None:
    shares = []
    for probability in (0.0, 0.5, 1.0):
        chosen: dict[str, Any] = {parameter: probability}
        queries = generate_flwr(shipped("bibliography"), number=1000, **chosen)
        shares.append(sum(bool(re.search(sign, query)) for query in queries) / len(queries))
    assert shares == [0, pytest.approx(0.5, abs=0.05), 1]


def test_everything_comes_in_many_kinds() -> None:
    queries = generate_flwr(shipped("book"), number=3000, depth=3, **EVERYTHING)
    for kind in (
        r"/section\[@difficulty [=<>] ",
        r"\[title = ",
        r"not\(",
        r"\(.* or .*\) and ",
        r"where \$v/\w+ or ",
        r"where count\(\$v/[\w/]+\) >= \d",
        r'contains\(\$v/@difficulty, "\d"\)',
        r"count\(\$v/figure/@width\)",
        r"stable order by",
        r' key="no\. \{ \$v/title \}"',
        r' key="\{ .* \}">\{ \$v/@\w+ \}',
        r"\} and \{",
        r"\{ count\([^{}]*\), count\([^{}]*\) \}",
        r"\{ \$l/",
        r"\{ \$w/",
        r'\$w = "',
        r"descending",
        r" != ",
    ):
        assert any(re.search(kind, query) for query in queries), kind


def test_only_attributes_that_are_numbers_are_put_in_order() -> None:
    queries = generate_flwr(shipped("book"), number=2000, depth=3, predicate_paths=2, comparison="mixed")
    ordered = [found for query in queries for found in re.findall(r"(\S+) ([<>]) (\S+)", query)]
    assert {re.split("/+", path)[-1] for path, _, _ in ordered} == {"@difficulty", "@width", "@height", "@source"}
    assert {int(constant) for _, _, constant in ordered} == set(range(10))
    assert not any(re.search(r" (!=|<|>) ", query) for query in generate_flwr(shipped("book"), number=500))


def test_an_attribute_made_of_values_never_has_the_name_of_a_copied_one() -> None:
    dtd = Dtd.parse("<!ELEMENT a (b, c)><!ATTLIST a key CDATA #IMPLIED><!ELEMENT b EMPTY><!ELEMENT c EMPTY>")
    queries = generate_flwr(dtd, number=200, attributes=1, distinct=False)
    assert any(" value=" in query for query in queries)
    assert not any(' key="' in query and "{ $v/@key }{" in query.split(">", 2)[-1] for query in queries)


def test_a_dtd_without_an_element_to_bind_is_told() -> None:
    with pytest.raises(
        ConfigurationError, match="root 'bib' has no element to bind down to depth 2, one with at least"
    ):
        generate_flwr(shipped("bibliography"), number=1, return_paths=11)


def test_no_queries_are_no_queries() -> None:
    assert generate_flwr(shipped("book"), number=0) == []
    assert generate_flwr(shipped("book"), number=0, distinct=False) == []


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"number": -1}, "number must be at least 0"),
        ({"depth": 0}, "depth must be at least 1"),
        ({"predicate_paths": -1}, "predicate_paths must be at least 0"),
        ({"return_paths": 0}, "return_paths must be at least 1"),
        ({"path_depth": 0}, "path_depth must be at least 1"),
        ({"values": 0}, "values must be at least 1"),
        ({"words": 0}, "words must be at least 1"),
        ({"descendant": 1.5}, "descendant must be a probability from 0 to 1, found 1.5"),
        ({"let": -0.1}, "let must be a probability"),
        ({"counts": 2.0}, "counts must be a probability"),
        ({"comparison": "less"}, 'comparison must be "equal" or "mixed", found \'less\''),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_told(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        generate_flwr(shipped("book"), **{"number": 1, **parameters})
