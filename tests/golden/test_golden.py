"""Golden cases: one query through all its stages. `pytest tests/golden --update-golden` rewrites them."""

import re
from pathlib import Path

import pytest

from weft import Broker, Document, WeftError
from weft.languages import parse
from weft.plans.show import show

CASES = sorted(Path(__file__).parent.glob("*/*.txt"))
SECTION = re.compile(r"^=== (\w+)\n", re.MULTILINE)


def read_case(path: Path) -> dict[str, str]:
    parts = SECTION.split(path.read_text())
    return dict(zip(parts[1::2], (part.rstrip("\n") for part in parts[2::2]), strict=True))


def run_case(case: dict[str, str], language: str) -> dict[str, str]:
    """The stages that follow from the query and the documents."""
    namespaces = dict(line.split("=", 1) for line in case.get("namespaces", "").splitlines())
    try:
        plan = show(parse(case["query"], language, namespaces))
    except WeftError as error:
        return {"error": str(error)}
    broker = Broker()
    broker.subscribe(case["query"], id="q", namespaces=namespaces, language=language)
    documents = [Document(line, id=str(at)) for at, line in enumerate(case["documents"].splitlines(), start=1)]
    messages = [f"{message.document}: {node}" for message in broker.publish(documents) for node in message.nodes]
    rejected = [f"rejected {error}" for error in broker.rejected]
    return {"plan": plan, "messages": "\n".join(messages + rejected)}


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_query_goes_through_all_its_stages_as_recorded(path: Path, request: pytest.FixtureRequest) -> None:
    case = read_case(path)

    stages = run_case(case, path.parent.name)

    given = {name: text for name, text in case.items() if name in ("query", "namespaces", "documents")}
    expected = {**given, **stages}
    if request.config.getoption("--update-golden"):
        path.write_text("".join(f"=== {name}\n{text}\n" for name, text in expected.items()))
    assert case == expected or request.config.getoption("--update-golden")
