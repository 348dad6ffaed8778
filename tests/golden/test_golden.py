"""Golden cases: one query through all its stages. `pytest tests/golden --update-golden` rewrites them.

A case is sections of a text file; its folder is the language of its query. `namespaces`, `dtd` and `documents`, one a
line, are optional beside it. In a case of XSCL each document has its stream and its timestamp in front, `S@3 <a/>`; the
documents are published one by one, and then the stream ends, so that the messages tell when each of them came. A case
may have further queries, `=== query NAME`, in the language that they are recognized to be: they read what the first one
publishes.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from weft import Broker, Document, Message, WeftError
from weft.documents.dtd import Dtd
from weft.languages import Plan, parse
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.show import show, show_flwr
from weft.plans.show_xscl import show_xscl
from weft.plans.xscl import Xscl
from weft.reference.pathsharing.optimize import optimize
from weft.reference.pathsharing.show_operators import show_operators
from weft.workload import shipped

CASES = sorted(Path(__file__).parent.glob("*/*.txt"))
SECTION = re.compile(r"^=== (\w+(?: \w+)?)\n", re.MULTILINE)
GIVEN = re.compile(r"query( \w+)?|namespaces|dtd|documents")
DATED = re.compile(r"(?P<stream>\w*)@(?P<timestamp>[\d.]+) (?P<text>.*)")


def read_case(path: Path) -> dict[str, str]:
    parts = SECTION.split(path.read_text())
    return dict(zip(parts[1::2], (part.rstrip("\n") for part in parts[2::2]), strict=True))


def run_case(case: dict[str, str], language: str) -> dict[str, str]:
    """The stages that follow from the queries and the documents; `dtd` names one that is shipped."""
    namespaces = dict(line.split("=", 1) for line in case.get("namespaces", "").splitlines())
    dtd = shipped(case["dtd"]) if "dtd" in case else None
    broker = Broker(dtd=dtd)
    stages: dict[str, str] = {}
    for section, query in case.items():
        kind, _, name = section.partition(" ")
        if kind == "query":
            try:
                plans = show_plans(parse(query, None if name else language, namespaces), dtd)
                broker.subscribe(query, id=name or "q", namespaces=namespaces, language=None if name else language)
            except WeftError as error:
                return {**stages, f"error {name}".strip(): str(error)}
            stages |= {f"{stage} {name}".strip(): plan for stage, plan in plans.items()}
    lines = case["documents"].splitlines()
    messages = list(joined_messages(broker, lines) if language == "xscl" else messages_of(broker, lines))
    rejected = [f"rejected {error}" for error in broker.rejected]
    return {**stages, "messages": "\n".join(messages + rejected)}


def messages_of(broker: Broker, lines: list[str]) -> Iterator[str]:
    """What the documents bring out, published as one batch; each is known by its line."""
    documents = [Document(line, id=str(at)) for at, line in enumerate(lines, start=1)]
    for message in broker.publish(documents):
        yield from (f"{message.document}: {node}" for node in message.nodes)


def joined_messages(broker: Broker, lines: list[str]) -> Iterator[str]:
    """What each document brings out, and what the end of the stream does."""
    for at, line in enumerate(lines, start=1):
        dated = DATED.fullmatch(line)
        assert dated, f"expected STREAM@SECONDS and a document, found {line!r}"
        document = Document(dated["text"], str(at), dated["stream"], Decimal(dated["timestamp"]))
        yield from (f"at {at}: {told(message, broker)}" for message in broker.publish(document))
    yield from (f"at the end: {told(message, broker)}" for message in broker.advance())


def told(message: Message, broker: Broker) -> str:
    """A message by its documents, and where there are several queries also by its own."""
    query = f"{message.subscription} of " if len(broker) > 1 else ""
    return f"{query}{' and '.join(message.documents or (message.document,))}: {message.text}"


def show_plans(plan: Plan, dtd: Dtd | None) -> dict[str, str]:
    """A query's plan; for FLWR also its own operators, as PathSharing-FWR would run them."""
    if isinstance(plan, Flwr):
        return {"plan": show_flwr(plan), "operators": show_operators(optimize(plan, "FWR", dtd))}
    if isinstance(plan, LoneQuery):
        return {"plan": f"{plan.why}; needed for a message\n{show(plan.required)}"}
    return {"plan": show_xscl(plan) if isinstance(plan, Xscl) else show(plan)}


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_query_goes_through_all_its_stages_as_recorded(path: Path, request: pytest.FixtureRequest) -> None:
    case = read_case(path)

    stages = run_case(case, path.parent.name)

    given = {name: text for name, text in case.items() if GIVEN.fullmatch(name)}
    expected = {**given, **stages}
    if request.config.getoption("--update-golden"):
        path.write_text("".join(f"=== {name}\n{text}\n" for name, text in expected.items()))
    assert case == expected or request.config.getoption("--update-golden")
