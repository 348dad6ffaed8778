"""The NFA of all paths: which states there are, and which a document's names reach, checked against lists of names."""

from itertools import product

import numpy as np
import pytest

from weft.documents.kind import Kind
from weft.engine.paths.states import ROOT, States
from weft.languages.xpath import parse
from weft.plans.names import name_forms
from weft.plans.plan import Path, Pattern, Step, Unlike


def path_of(query: str) -> Path:
    selection = parse(query)
    assert isinstance(selection, Pattern)
    return selection.path


def reached(states: States, names: list[str]) -> set[int]:
    """The states that the last of the names from the root down reaches."""
    active, found = states.start(), np.zeros(0, np.int32)
    for name in names:
        found = states.reach(active, name)
        active = states.activate(active, found)
    assert len(set(active.tolist())) == active.size, "a state is active once"
    return set(found.tolist())


def leads(path: Path, names: list[str]) -> bool:
    """Whether a path of elements leads from the root to the last name, by the definition."""
    if not path:
        return not names
    *before, step = path
    is_here = bool(names) and step.label in ("*", names[-1])
    skips = range(len(names)) if step.deep else (len(names) - 1,)
    return is_here and any(leads(tuple(before), names[:skip]) for skip in skips)


def test_equal_prefixes_are_the_same_states() -> None:
    states = States()
    first = states.extend(ROOT, path_of("/a/b"))
    size = len(states)

    assert states.extend(ROOT, path_of("/a/b")) == first
    assert len(states) == size
    assert states.extend(first, path_of("/c")) == states.extend(ROOT, path_of("/a/b/c"))
    assert len(states) == size + 1
    assert states.extend(ROOT, path_of("/a//b")) != first


def test_steps_behind_a_descendant_step_share_its_loop() -> None:
    states = States()
    states.extend(ROOT, path_of("/a//b"))
    size = len(states)

    states.extend(ROOT, path_of("/a//c"))

    assert len(states) == size + 1


@pytest.mark.parametrize("many", [False, True], ids=["few states", "states by the hundred"])
def test_a_label_path_reaches_the_paths_that_lead_to_it_and_no_others(many: bool) -> None:
    """Beyond forty active states numpy does what Python does below."""
    steps = [Step(label, deep=deep) for label in ("a", "b", "*") for deep in (False, True)]
    paths = [path for length in (1, 2, 3) for path in product(steps, repeat=length)]
    states = States()
    if many:
        ends = {states.extend(ROOT, path): path for path in paths}
    for names in map(list, (name for size in (1, 2, 3, 4) for name in product("ab", repeat=size))):
        expected = {path for path in paths if leads(path, names)}
        if many:
            found = {ends[state] for state in reached(states, names) if state in ends}
        else:
            found = {path for path in paths if _is_reached_alone(path, names)}
        assert found == expected


def _is_reached_alone(path: Path, names: list[str]) -> bool:
    states = States()
    end = states.extend(ROOT, path)
    return end in reached(states, names)


def test_attributes_and_texts_are_reached_by_their_own_names_only() -> None:
    states = States()
    ends = {query: states.extend(ROOT, path_of(query)) for query in ("/a/@k", "/a/@*", "/a/text()", "/a/*", "/a/k")}

    def found(name: str) -> set[str]:
        return {query for query, state in ends.items() if state in reached(states, ["a", name])}

    assert found("@k") == {"/a/@k", "/a/@*"}
    assert found("@l") == {"/a/@*"}
    assert found("text()") == {"/a/text()"}
    assert found("k") == {"/a/*", "/a/k"}
    assert (states.has_attributes, states.has_texts, states.names_attributes) == (True, True, True)


def test_a_path_to_elements_alone_asks_for_no_attributes_and_no_texts() -> None:
    states = States()
    states.extend(ROOT, path_of("//a/*/b"))

    assert (states.has_attributes, states.has_texts, states.names_attributes) == (False, False, False)


def test_all_names_but_some_is_a_label_test_too() -> None:
    states = States()
    other = states.extend(ROOT, (Step(Unlike(("a", "{u}b"))),))

    assert [other in reached(states, [name]) for name in ("a", "b", "{u}b", "c", "{u}a")] == [
        *(False, True, False, True, True)
    ]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("b", ("b", "*:b")),
        ("{u}b", ("{u}b", "*:b", "{u}*")),
        ("@k", ("@k", "@*:k", "@*")),
        ("@{u}k", ("@{u}k", "@*:k", "@{u}*", "@*")),
        ("{u}}v}b", ("{u}}v}b", "*:b", "{u}}v}*")),
    ],
)
def test_a_name_passes_the_tests_for_itself_its_local_name_and_its_namespace(name: str, forms: tuple[str, ...]) -> None:
    assert name_forms(name) == forms


def test_a_label_test_is_known_by_its_number() -> None:
    states = States()

    numbers = {label: states.symbol(label) for label in ("a", "*:b", "{u}*")}

    assert {label: states.label(number) for label, number in numbers.items()} == {name: name for name in numbers}
    assert states.label(states.symbol("k", Kind.ATTRIBUTE)) == "k"
    assert states.symbol("k", Kind.ATTRIBUTE) != states.symbol("k")
    assert states.label(-1) == "*"


def test_names_seen_before_a_path_came_are_looked_up_anew() -> None:
    states = States()
    states.extend(ROOT, path_of("/a"))
    before = reached(states, ["b"])

    later = states.extend(ROOT, path_of("/b"))

    assert before == set()
    assert reached(states, ["b"]) == {later}
