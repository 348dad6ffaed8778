"""Where Spark is not installed: `weft run` tells so in one line, and all other commands work and load nothing of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from weft.delivery.outbox import Name, Outbox
from weft.delivery.output import Record, claim

MISSING = ("pyspark", "py4j")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def weft(*arguments: object, missing: tuple[str, ...] = MISSING) -> subprocess.CompletedProcess[str]:
    """The command line in a fresh interpreter that has none of these modules."""
    program = f"import sys; sys.modules.update(dict.fromkeys({missing!r})); from weft.cli import main; main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """What a job that writes files leaves: one message."""
    claim(tmp_path, Record(None, "files"), overwrite=False, checkpoint=tmp_path / "checkpoint")
    outbox = Outbox(tmp_path / "messages")
    outbox.commit([outbox.stage([(Name("desk", f"mine-{'0' * 16}", ".xml"), b"<m/>\n")])], 0)
    return tmp_path


@pytest.mark.slow
def test_show_needs_no_spark(output: Path) -> None:
    shown = weft("show", output)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == "-- mine to desk\n<m/>\n"


@pytest.mark.slow
def test_show_tells_that_it_needs_pyarrow(output: Path) -> None:
    shown = weft("show", output, missing=(*MISSING, "pyarrow"))

    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith("weft: this command needs pyarrow (")
    assert shown.stderr.endswith("): pip install 'weft[spark]'\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["sources", "list"], ["query", "//a"], ["serve-queries"], ["views", "list"], ["views", "refresh"]],
    ids=" ".join,
)
def test_the_query_server_tells_what_it_needs(tmp_path: Path, arguments: list[str]) -> None:
    listed = weft(*arguments, "--store", tmp_path, missing=(*MISSING, "pyarrow"))

    assert (listed.returncode, listed.stdout) == (2, "")
    assert listed.stderr.startswith("weft: this command needs more libraries (")
    assert listed.stderr.endswith("): pip install 'weft[views]'\n")


@pytest.mark.slow
def test_run_tells_in_one_line_that_it_needs_spark(tmp_path: Path) -> None:
    options = ["--subscriptions", EXAMPLES / "subscriptions.xpath", "--documents", EXAMPLES / "news"]

    done = weft("run", *options, "--output", tmp_path / "out")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("weft: this command needs Spark (")
    assert done.stderr.endswith("): pip install 'weft[spark]'\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["match", "--ids", EXAMPLES / "subscriptions.xpath", EXAMPLES / "news" / "001.xml"],
        ["check", EXAMPLES / "subscriptions.xpath"],
        ["explain", EXAMPLES / "subscriptions.xpath"],
        ["run", "--help"],
        ["show", "--help"],
        ["source", "serve", "--help"],
        ["sources", "add", "--help"],
        ["query", "--help"],
        ["views", "materialize", "--help"],
    ],
    ids=lambda arguments: " ".join(arguments[:1]),
)
def test_the_other_commands_and_all_help_need_neither_spark_nor_pyarrow(arguments: list[object]) -> None:
    done = weft(*arguments, missing=(*MISSING, "pyarrow", "pandas", "httpx", "starlette", "uvicorn"))

    assert (done.returncode, done.stderr) == (0, "")
