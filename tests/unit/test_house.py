"""The house rules that a machine can hold: imports go downward, exports are told, modules say what they do."""

import ast
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "weft"
# From the top down: a module may import from its own room and from rooms further down.
ROOMS = (
    "cli",
    "api",
    "spark",
    "matcher",
    "courier",
    "confinement",
    "deliveries",
    "destinations",
    "subscriptions",
    "network",
    "views",
    "joins",
    "engine",
    "optimizer",
    "automaton",
    "languages",
    "plans",
    "workload",
    "documents",
    "durable",
    "errors",
)
MODULES = sorted(SOURCE.rglob("*.py"))
# Modules with an import inside a function, and why: what Spark's extra brings is loaded by the commands that need it.
LATE_IMPORTS = {
    "cli/run.py": "the other commands are there at once, and work without Spark",
    "cli/show.py": "the other commands are there at once, and work without pyarrow",
}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.add(node.module or "")
            if node.module == "weft":
                found.update(f"weft.{alias.name}" for alias in node.names)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_from_its_own_room_and_below(path: Path) -> None:
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return

    names = imported(ast.parse(path.read_text()))

    rooms = {name.split(".")[1] for name in names if name.startswith("weft.")}
    assert "weft" not in names, "import from the room, not from the front door"
    assert room in ROOMS, f"{room} is not among the rooms of the design"
    assert {other for other in rooms if ROOMS.index(other) < ROOMS.index(room)} == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_stand_at_the_top(path: Path) -> None:
    tree = ast.parse(path.read_text())

    inside = [
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]

    assert bool(inside) == (str(path.relative_to(SOURCE)) in LATE_IMPORTS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_spark_room_imports_pyspark(path: Path) -> None:
    names = imported(ast.parse(path.read_text()))

    assert room_of(path) == "spark" or not any(name.split(".")[0] == "pyspark" for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_what_it_does_and_stays_readable(path: Path) -> None:
    text = path.read_text()

    assert ast.get_docstring(ast.parse(text)), "a module opens with one sentence"
    assert len(text.splitlines()) <= 400


def test_what_weft_exports_is_what_all_names() -> None:
    public = {name for name in vars(weft) if not name.startswith("_")}
    submodules = {path.stem if path.is_file() else path.name for path in SOURCE.iterdir()}

    assert public - submodules == set(weft.__all__)
    assert list(weft.__all__) == sorted(weft.__all__)
    assert all(getattr(weft, name).__doc__ for name in weft.__all__)
