"""`weft source serve` and `weft sources`: what they print, what they refuse, and with which exit code."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from weft.cli import app
from weft.cli.quantities import read_seconds, read_size
from weft.errors import ConfigurationError
from weft.views.sources.local import FileSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.running import serving


def run(*arguments: object) -> Result:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEFT_STORE", raising=False)
    (tmp_path / "shop.xml").write_text("<shop>" + "<item><price>1</price></item>" * 2_000 + "</shop>")
    return tmp_path / "shop.xml"


def test_a_source_is_added_listed_and_removed(shop: Path) -> None:
    rates = "--processing-rate", "1MB", "--transmission-rate", "12300MB", "--latency", "20ms"
    added = run("sources", "add", "shop.xml", *rates)
    listed = run("sources", "list")
    removed = run("sources", "remove", "shop")

    assert (added.exit_code, added.stdout) == (0, f"shop: 1 document at {shop}\n")
    assert "1 MB/s (given)" in listed.stdout
    assert "12.3 GB/s (given)" in listed.stdout
    assert "20 ms (given)" in listed.stdout
    assert "unknown" in listed.stdout
    assert removed.exit_code == 0
    assert "no sources in weft-views" in run("sources", "list").stderr


def test_what_is_listed_for_other_programs_is_not_shortened(shop: Path) -> None:
    deep = shop.parent.joinpath(*("a folder with a long name",) * 6)
    deep.mkdir(parents=True)
    shop.rename(deep / "shop.xml")
    run("sources", "add", deep / "shop.xml")

    assert str(deep / "shop.xml") in run("sources", "list").stdout
    assert len(run("sources", "list").stdout.splitlines()) == 2


@pytest.mark.parametrize("text", ["<shop><item></shop>", "<shop/>and more", "<shop><item/>"])
def test_a_file_that_is_not_well_formed_is_refused(shop: Path, text: str) -> None:
    shop.write_text(text)

    added = run("sources", "add", "shop.xml")

    assert added.exit_code != 0
    assert "shop.xml" in added.stderr
    assert "no sources" in run("sources", "list").stderr


@pytest.mark.usefixtures("shop")
def test_a_latency_without_a_unit_is_seconds_and_the_help_says_so() -> None:
    run("sources", "add", "shop.xml", "--latency", "20")

    assert "2e+04 ms (given)" in run("sources", "list").stdout
    assert "Without a unit it is seconds" in " ".join(run("sources", "add", "--help").stdout.replace("│", "").split())


def test_the_store_may_be_named_by_the_environment(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_STORE", str(shop.parent / "elsewhere"))

    run("sources", "add", shop)

    assert (shop.parent / "elsewhere" / "sources.json").exists()
    assert "shop" in run("sources", "list", "--store", shop.parent / "elsewhere").stdout


@pytest.mark.slow
def test_a_check_tells_of_changes_and_rates(shop: Path) -> None:
    with serving(FileSource(shop), Rates(Rate(2e6), Rate(1e6), Rate(0.02))) as address:
        run("sources", "add", address)
        first = run("sources", "check", "--measure")
        shop.write_text("<shop/>")
        second = run("sources", "check", "shop")

    assert first.exit_code == second.exit_code == 0
    assert re.search(r"shop\s+up\s+1\s+0\s", first.stdout)
    assert "±" in first.stdout
    assert re.search(r"shop\s+up\s+1\s+1\s", second.stdout)
    assert second.stderr == "changed: shop: shop.xml\n"


def test_a_check_fails_when_a_source_is_down(shop: Path) -> None:
    (shop.parent / "bank.xml").write_text("<bank/>")
    run("sources", "add", "bank.xml")
    run("sources", "add", "shop.xml")
    shop.unlink()

    checked = run("sources", "check", "--measure")

    assert checked.exit_code == 1
    assert re.search(r"bank\s+up", checked.stdout)
    assert re.search(r"shop\s+down", checked.stdout)
    assert checked.stderr == "down: shop: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sources", "add", "gone.xml"], "weft: {}/gone.xml: No such file or directory"),
        (["sources", "add", "http://127.0.0.1:1"], "weft: http://127.0.0.1:1: "),
        (["sources", "add", "shop.xml", "--latency", "20MB"], "weft: --latency: expected a time such as 20ms"),
        (["sources", "add", "shop.xml", "--processing-rate", "0"], "weft: --processing-rate: expected a size"),
        (["sources", "add", "shop.xml", "--name", ""], "weft: source {}/shop.xml: expected a name that can be shown"),
        (["sources", "add", "shop.xml", "--name", "a\nb"], "weft: source {}/shop.xml: expected a name that can be"),
        (["source", "serve", "shop.xml", "--name", " "], "weft: source shop.xml: expected a name that can be shown"),
        (["sources", "remove", "gone"], "weft: source gone: expected one of those that were added (none)"),
        (["sources", "check", "gone"], "weft: source gone: expected"),
        (["source", "serve", "gone.xml"], "weft: {}/gone.xml: No such file or directory"),
        (["source", "serve", "shop.xml", "--host", "192.0.2.1"], "weft: 192.0.2.1:8321: cannot be served on"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(shop: Path, arguments: list[str], told: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(told.format(shop.parent))
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_serve_serves_until_it_is_interrupted(shop: Path) -> None:
    command = [sys.executable, "-m", "weft", "source", "serve", str(shop), "--port", "0"]
    command += ["--rate", "50MB", "--transmission-rate", "20MB"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"shop: 1 document, served at (http://127.0.0.1:\d+) \(end with Ctrl-C\)\n", line)
        assert found is not None, line
        measured = httpx.post(f"{found[1]}/measure", json={"queries": [{"xpath": "//price"}]}).json()
        rates = httpx.get(f"{found[1]}/documents").json()["rates"]
        process.send_signal(signal.SIGINT)
        assert (process.wait(20), process.stderr.read()) == (0, "")

    assert (rates["processing"][0], rates["transmission"][0]) == (50e6, 20e6)
    assert measured["queries"][0]["count"] == 2_000


@pytest.mark.parametrize(
    ("text", "size"), [("10", 10), ("1kB", 1e3), ("1.5 MB", 1.5e6), ("2GiB", 2 << 30), ("3MB/s", 3e6), ("4 b", 4)]
)
def test_sizes_are_read(text: str, size: float) -> None:
    assert read_size("--budget", text) == size


@pytest.mark.parametrize(("text", "seconds"), [("20ms", 0.02), ("1.5", 1.5), ("2 s", 2), ("1min", 60), ("5us", 5e-6)])
def test_times_are_read(text: str, seconds: float) -> None:
    assert read_seconds("--latency", text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "MB", "-1", "1 parsec", "1e3", "0ms"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--option: expected"):
        read_size("--option", text)
    with pytest.raises(ConfigurationError, match="--option: expected"):
        read_seconds("--option", text)
