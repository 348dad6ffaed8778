"""The house rules that a machine can hold: imports go downward, exports are told, modules say what they do."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "weft"
# From the top down: a module may import from its own room and from rooms further down.
# Rooms without a folder yet have their place already.
ROOMS = (
    "cli",
    "console",
    "spark",
    "network",
    "delivery",
    "broker",
    "views",
    "headers",
    "reference",
    "joins",
    "optimizer",
    "engine",
    "languages",
    "plans",
    "inputs",
    "workload",  # generates from DTDs, which are documents'
    "documents",
    "kernel",
    "columns",
    "durable",
    "errors",
)
TO_COME = {"console"}
LONGEST_MODULE, LONGEST_FUNCTION = 300, 40
MODULES = sorted(SOURCE.rglob("*.py"))
C_FILES = sorted(path for ending in ("c", "h") for path in (SOURCE / "kernel").glob(f"*.{ending}"))
BESIDE = sorted(path for folder in ("bench", "docs", "examples", "tools") for path in (ROOT / folder).rglob("*.py"))
# Modules with an import inside a function, and why: a command, and a worker of Spark, loads only what it needs.
LATE_IMPORTS = {
    "cli/libraries.py": "the other commands are there at once, and work without Spark",
    "__init__.py": "a worker of Spark needs hardly any of it, and there are many",
    "spark/__init__.py": "a worker of Spark needs hardly any of it, and there are many",
    "cli/network.py": "the other commands are there at once, and work without Spark",
    "cli/run.py": "the other commands are there at once, and work without Spark",
    "cli/views.py": "SciPy takes longer to load than all the rest, and only one method needs it",
    "cli/source.py": "the other commands are there at once, and work without pyarrow and httpx",
    "cli/query.py": "the other commands are there at once, and work without pyarrow and httpx",
    "cli/stored_views.py": "the other commands are there at once, and work without pyarrow and httpx",
    "cli/show.py": "the other commands are there at once, and work without pyarrow",
    "documents/dtd.py": "networkx takes longer to load than numpy, and is needed only where there is a DTD",
    "network/routes.py": "networkx takes longer to load than numpy, and is needed only where there is a network",
    "network/topology.py": "networkx takes longer to load than numpy, and is needed only where there is a network",
    "views/selection/matrices.py": "SciPy takes longer to load than all the rest, and is needed only to choose views",
    "views/selection/program.py": "SciPy takes longer to load than all the rest, and is needed only to choose views",
}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    loaders = {"import_module", "__import__", "find_spec", "LazyLoader", "spec_from_file_location", "run_module"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.add((node.module or "").removeprefix("cython.cimports."))
            if node.module in ("weft", "cython.cimports.weft"):
                found.update(f"weft.{alias.name}" for alias in node.names)
            loaders.update(alias.asname for alias in node.names if alias.asname and alias.name in loaders)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.update(loaded(node, loaders))
    return found


def loaded(call: ast.Call, loaders: set[str]) -> set[str]:
    """The modules that a call of importlib or of __import__ names; one that it works out is refused."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in loaders:
        return set()
    first = call.args[0] if call.args else None
    assert isinstance(first, ast.Constant), f"line {call.lineno}: a module must be named where it is loaded"
    return {str(first.value)}


@pytest.mark.slow
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_from_its_own_room_and_below(path: Path) -> None:
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return

    names = imported(tree_of(path))

    rooms = {name.split(".")[1] for name in names if name.startswith("weft.")}
    assert "weft" not in names, "import from the room, not from the front door"
    assert room in ROOMS, f"{room} is not among the rooms of the design"
    assert {other for other in rooms if ROOMS.index(other) < ROOMS.index(room)} == set()


@pytest.mark.parametrize(
    "code",
    [
        "from weft.cli import app",
        "import weft.cli.app",
        "def late():\n    from weft.cli import app",
        "import importlib\nimportlib.import_module('weft.cli.app')",
        "from importlib import import_module\nimport_module('weft.cli')",
        "__import__('weft.cli.app')",
        "from importlib import import_module as load\nload('weft.cli')",
        "import runpy\nrunpy.run_module('weft.cli')",
        "from cython.cimports.weft.cli.app import main",
        "from cython.cimports.weft import cli",
    ],
)
def test_an_upward_import_is_found_however_it_is_made(code: str) -> None:
    assert any(name.startswith("weft.cli") for name in imported(ast.parse(code)))


@pytest.mark.parametrize("path", sorted((SOURCE / "kernel").glob("*.p[xy][di]")), ids=lambda path: path.name)
def test_a_declaration_of_the_kernel_needs_only_what_lies_below(path: Path) -> None:
    rooms = re.findall(r"^\s*(?:from|cimport|import)\s+weft(?:\.(\w+))?", path.read_text(), re.MULTILINE)

    assert set(rooms) <= set(ROOMS[ROOMS.index("kernel") :])


def test_a_module_that_is_worked_out_is_refused() -> None:
    with pytest.raises(AssertionError, match="a module must be named"):
        imported(ast.parse("import importlib\nimportlib.import_module('weft.' + 'cli')"))


def test_every_room_of_the_design_is_there_or_to_come() -> None:
    there = {room_of(path) for path in MODULES} - {"__init__", "__main__"}

    assert there == set(ROOMS) - TO_COME


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_stand_at_the_top(path: Path) -> None:
    tree = tree_of(path)

    inside = [
        f"{path.relative_to(SOURCE)}:{function.name}"
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]

    assert bool(inside) == (str(path.relative_to(SOURCE)) in LATE_IMPORTS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_spark_room_imports_pyspark_and_only_the_reference_duckdb(path: Path) -> None:
    libraries = {name.split(".")[0] for name in imported(tree_of(path))}

    assert room_of(path) == "spark" or "pyspark" not in libraries
    assert room_of(path) == "reference" or "duckdb" not in libraries


@pytest.mark.parametrize("path", [*MODULES, *BESIDE], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_does_and_stays_readable(path: Path) -> None:
    text = path.read_text()

    assert ast.get_docstring(tree_of(path)), "a module opens with one sentence"
    assert len(text.splitlines()) <= LONGEST_MODULE


@pytest.mark.parametrize("path", [*MODULES, *BESIDE], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_function_is_short_or_says_why_it_is_not(path: Path) -> None:
    lines = path.read_text().splitlines()

    long = [
        function.name
        for function in ast.walk(tree_of(path))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and (function.end_lineno or 0) - function.lineno >= LONGEST_FUNCTION
        and not lines[first_line(function) - 2].lstrip().startswith("# Long: ")
    ]

    assert long == []


@pytest.mark.parametrize("path", C_FILES, ids=lambda path: path.name)
def test_a_file_of_c_says_what_it_does_and_stays_readable(path: Path) -> None:
    text = path.read_text()

    assert text.startswith("/* "), "a file opens with one sentence"
    assert len(text.splitlines()) <= LONGEST_MODULE
    assert [name for name, lines in c_functions(text) if lines > LONGEST_FUNCTION] == []


def c_functions(text: str) -> Iterator[tuple[str, int]]:
    """The functions of a file of C, each with its lines: from a line with parentheses that opens a block to its end."""
    name, start = "", 0
    for number, line in enumerate(text.splitlines()):
        if opened := re.match(r"\w[^;=]*?(\w+)\(.*\{$", line):
            name, start = opened[1], number
        elif line.startswith("}") and name:
            yield name, number + 1 - start
            name = ""


def test_the_functions_of_a_file_of_c_are_found() -> None:
    text = "static int one(int a) {\n    return a;\n}\n\ntypedef struct {\n    int b;\n} Two;\n\nint three(void) {\n}\n"

    assert list(c_functions(text)) == [("one", 3), ("three", 2)]


def first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Where a function begins, with its decorators."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


@pytest.mark.parametrize("path", sorted((SOURCE / "kernel").glob("*.p*")), ids=lambda path: path.name)
def test_a_module_of_the_kernel_leaves_what_is_checked_to_the_build(path: Path) -> None:
    assert not path.read_text().startswith("# cython:"), "it counts more than WEFT_CHECKED=1 of setup.py"


def test_no_type_is_defined_twice() -> None:
    where: dict[str, list[str]] = {}
    for path in MODULES:
        for name in types_in(tree_of(path)):
            where.setdefault(name.lstrip("_"), []).append(str(path.relative_to(SOURCE)))

    assert {name: places for name, places in where.items() if len(places) > 1} == {}


def types_in(tree: ast.Module) -> Iterator[str]:
    """Classes, and aliases of types: what is assigned to a name like one."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.lstrip("_")[:1].isupper() and not name.isupper():
                yield name


def test_what_weft_exports_is_what_all_names() -> None:
    public = {name for name in dir(weft) if not name.startswith("_")}
    submodules = {path.stem if path.is_file() else path.name for path in SOURCE.iterdir()}

    assert public - submodules == set(weft.__all__)
    assert list(weft.__all__) == sorted(weft.__all__)
    assert all(getattr(weft, name).__doc__ for name in weft.__all__)
