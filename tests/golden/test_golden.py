"""Golden cases: one query through all its stages. `pytest tests/golden --update-golden` rewrites them."""

import re
from pathlib import Path

import pytest

from weft import Broker, Document, WeftError
from weft.documents.dtd import Dtd
from weft.languages import Plan, parse
from weft.plans.flwr import Flwr
from weft.plans.show import show, show_flwr
from weft.plans.show_xscl import show_xscl
from weft.plans.xscl import Xscl
from weft.reference.pathsharing.optimize import optimize
from weft.reference.pathsharing.show_operators import show_operators
from weft.workload import shipped

CASES = sorted(Path(__file__).parent.glob("*/*.txt"))
SECTION = re.compile(r"^=== (\w+)\n", re.MULTILINE)
GIVEN = ("query", "namespaces", "dtd", "documents")


def read_case(path: Path) -> dict[str, str]:
    parts = SECTION.split(path.read_text())
    return dict(zip(parts[1::2], (part.rstrip("\n") for part in parts[2::2]), strict=True))


def run_case(case: dict[str, str], language: str) -> dict[str, str]:
    """The stages that follow from the query and the documents; `dtd` names one that is shipped."""
    namespaces = dict(line.split("=", 1) for line in case.get("namespaces", "").splitlines())
    dtd = shipped(case["dtd"]) if "dtd" in case else None
    try:
        stages = show_plans(parse(case["query"], language, namespaces), dtd)
    except WeftError as error:
        return {"error": str(error)}
    broker = Broker(dtd=dtd)
    broker.subscribe(case["query"], id="q", namespaces=namespaces, language=language)
    documents = [Document(line, id=str(at)) for at, line in enumerate(case["documents"].splitlines(), start=1)]
    messages = [f"{message.document}: {node}" for message in broker.publish(documents) for node in message.nodes]
    rejected = [f"rejected {error}" for error in broker.rejected]
    return {**stages, "messages": "\n".join(messages + rejected)}


def show_plans(plan: Plan, dtd: Dtd | None) -> dict[str, str]:
    """A query's plan; for FLWR also its own operators, as PathSharing-FWR would run them."""
    if isinstance(plan, Flwr):
        return {"plan": show_flwr(plan), "operators": show_operators(optimize(plan, "FWR", dtd))}
    return {"plan": show_xscl(plan) if isinstance(plan, Xscl) else show(plan)}


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_query_goes_through_all_its_stages_as_recorded(path: Path, request: pytest.FixtureRequest) -> None:
    case = read_case(path)

    stages = run_case(case, path.parent.name)

    given = {name: text for name, text in case.items() if name in GIVEN}
    expected = {**given, **stages}
    if request.config.getoption("--update-golden"):
        path.write_text("".join(f"=== {name}\n{text}\n" for name, text in expected.items()))
    assert case == expected or request.config.getoption("--update-golden")
