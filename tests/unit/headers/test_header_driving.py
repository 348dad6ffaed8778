"""Drivers are chosen by what is seen: what many documents pass drives few conditions, and answers stay the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from weft.documents.build import read
from weft.documents.document import Document
from weft.engine import Engine
from weft.headers import driving
from weft.headers.conditions import AllOf, LookUp
from weft.headers.configuration import configure
from weft.headers.drivers import Drivers
from weft.headers.driving import Driving
from weft.headers.evaluate import ConditionTable
from weft.headers.looked_up import LookedUp
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import attach
from weft.languages import parse
from weft.plans.plan import Pattern, Value

VIEWS = configure("v", ["/m/lang", "/m/id", "/m/date"])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The conditions that are asked one by one, in their order."""
    found: list[int] = []
    ask = ConditionTable.ask

    def counted(self: ConditionTable, number: int, document: LookedUp, known: dict[int, bool | None]) -> bool | None:
        found.append(number)
        return ask(self, number, document, known)

    monkeypatch.setattr(ConditionTable, "ask", counted)
    return found


def matcher_of(queries: Sequence[str]) -> HeaderMatcher:
    matcher = HeaderMatcher(VIEWS)
    for number, query in enumerate(queries):
        matcher.add(number, parse(query))
    return matcher


def message(lang: str = "en", id: str = "1", date: str = "2026-01-01") -> Document:
    return attach(f"<m><lang>{lang}</lang><id>{id}</id><date>{date}</date></m>".encode(), VIEWS)[0]


def asked_by(matcher: HeaderMatcher, asked: list[int], document: Document) -> int:
    del asked[:]
    assert matcher.answer(document) is not None
    return len(asked)


@pytest.mark.parametrize(
    "query",
    [
        "/m[lang = 'en'][id = 'x{}']",
        "/m[id = 'x{}'][lang = 'en']",
        "/m[date >= xs:date('2020-01-01')][contains(id, 'x{}')]",
        "/m[lang = 'en' and date >= xs:date('2020-01-01') and id = 'x{}']",
    ],
)
def test_what_all_queries_have_in_common_drives_none_of_them_at_once(query: str, asked: list[int]) -> None:
    matcher = matcher_of([query.format(at) for at in range(1_000)])

    assert asked_by(matcher, asked, message()) < 10


@pytest.mark.parametrize(
    "query",
    [
        "/m[lang = 'en'][contains(id, 'x{}')]",  # by kind the first is better
        "/m[date >= xs:date('{}-01-01')][ends-with(id, 'x{}')]",  # each has its own date, which all documents pass
        "/m[lang != '{}'][starts-with(date, 'x{}')][lang = 'en']",
    ],
)
def test_what_most_documents_pass_drives_no_more(query: str, asked: list[int]) -> None:
    matcher = matcher_of(
        [query.format(at + 1_000, at) if query.count("{}") > 1 else query.format(at) for at in range(500)]
    )
    first = asked_by(matcher, asked, message())
    for _ in range(40):
        matcher.answer(message())

    assert first >= 500
    assert asked_by(matcher, asked, message()) < 10


def test_a_driver_that_documents_begin_to_pass_gives_way_again(asked: list[int]) -> None:
    matcher = matcher_of(
        ["/m[lang = 'en'][contains(id, 'x')][date = '2026-01-01']", *["/m[lang = 'en'][id = 'x']"] * 3]
    )
    seldom = []
    for given in (message("en", "1"), message("fr", "x"), message("en", "1"), message("fr", "x")):
        for _ in range(4 * driving._MOST_OFTEN):
            matcher.answer(given)
        seldom.append(asked_by(matcher, asked, given))

    assert seldom == [0, 0, 0, 0]


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The conditions that are given a driver, in their order."""
    found: list[int] = []
    add = Drivers.add

    def counted(self: Drivers, condition: int, driver: LookUp) -> None:
        found.append(condition)
        add(self, condition, driver)

    monkeypatch.setattr(Drivers, "add", counted)
    return found


def test_two_drivers_that_hold_as_often_do_not_take_turns(changed: list[int]) -> None:
    matcher = matcher_of(["/m[lang = 'en'][id = 'x']"])
    chance = Random(4)
    for _ in range(20_000):
        matcher.answer(message("en" if chance.random() < 0.9 else "fr", "x" if chance.random() < 0.9 else "y"))

    assert len(changed) == 1


def test_few_conditions_change_between_two_documents(changed: list[int]) -> None:
    matcher = matcher_of([f"/m[lang = 'en'][contains(id, 'x{at}')]" for at in range(2_000)])
    steps = []
    for _ in range(driving._OFTEN + 10):
        del changed[:]
        matcher.answer(message())
        steps.append(len(changed))

    # More each time: an index of constants is made anew after each.
    assert [each for each in steps if each] == [256, 256, 512, 976]


def test_an_entry_with_several_nodes_does_not_drive_where_another_settles_it() -> None:
    """The rarer constant is of an expression that documents have twice: by the other one no document is a miss."""
    matcher = matcher_of([f"/m[lang = 'en'][id = 'x{at}']" for at in range(500)])
    document = attach(b"<m><lang>fr</lang><id>a</id><id>b</id></m>", VIEWS)[0]
    found = [matcher.answer(document) for _ in range(60)]

    assert found[0] is None
    assert found[-1] == []


def test_changes_of_queries_that_went_are_not_made() -> None:
    matcher = matcher_of([f"/m[lang = 'en'][contains(id, 'x{at}')]" for at in range(1_000)])
    for _ in range(driving._OFTEN):
        matcher.answer(message())
    for number in range(990):
        matcher.remove(number)

    for _ in range(40):
        assert matcher.answer(message()) == []
    assert matcher.answer(message(id="x991")) == [991]


def test_a_condition_that_is_nothing_but_its_driver_has_no_choice() -> None:
    table = ConditionTable()
    drives, one, two = Driving(table), LookUp(0, Value("=", "x")), LookUp(1, Value("=", "y"))

    assert drives.add(table.add(one), one)
    assert drives.add(table.add(AllOf((one, two))), AllOf((one, two)))
    assert not drives.add(table.add(LookUp(2)), LookUp(2))

    assert drives.sure == {table.add(one)}
    assert (drives.drivers.driven_by(one), drives.drivers.driven_by(two)) == (1, 1)


@pytest.mark.parametrize("often", [1, 3, 16])
def test_whatever_drives_answers_are_those_of_parsing(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "_OFTEN", often)
    monkeypatch.setattr(driving, "_SLICE", 1)
    chance = Random(often)
    queries = [_query(chance) for _ in range(40)]
    matcher, engine = matcher_of(queries), Engine()
    for number, query in enumerate(queries):
        plan = parse(query)
        assert isinstance(plan, Pattern)
        engine.add(number, plan)
    answered = 0
    for _ in range(400):
        document = attach(_data(chance), VIEWS)[0]
        found = matcher.answer(document)
        answered += found is not None
        assert found is None or found == sorted(engine.match(read([document])).subscriptions()[0].tolist())

    assert answered > 200


def _query(chance: Random) -> str:
    tests: list[Callable[[], str]] = [
        lambda: f"lang {chance.choice(['=', '!='])} '{chance.choice(['en', 'fr', 'de'])}'",
        lambda: f"id {chance.choice(['=', '<', '>='])} {chance.randrange(4)}",
        lambda: f"contains(id, '{chance.randrange(4)}')",
        lambda: f"date >= xs:date('2026-01-0{chance.randint(1, 4)}')",
        lambda: f"lang = '{chance.choice(['en', 'fr'])}' or id = {chance.randrange(4)}",
    ]
    return "/m" + "".join(f"[{chance.choice(tests)()}]" for _ in range(chance.randint(1, 3)))


def _data(chance: Random) -> bytes:
    several = "<id>0</id>" if chance.random() < 0.05 else ""
    lang, id, day = chance.choice(["en", "en", "en", "fr"]), chance.choice([1, 1, 2, 31]), chance.randint(1, 4)
    return f"<m><lang>{lang}</lang><id>{id}</id>{several}<date>2026-01-0{day}</date></m>".encode()
