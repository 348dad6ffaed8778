"""Arguments in, one of the commands run, an exit code out; whatever is wrong with the input is told in one place."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from weft.cli.check import check
from weft.cli.explain import explain
from weft.cli.generate import generate
from weft.cli.header import header
from weft.cli.logs import LogFormat, set_up_logging, tell
from weft.cli.match import match
from weft.cli.network import network
from weft.cli.query import query, serve_queries
from weft.cli.run import run
from weft.cli.settings import GENERAL, defaults_of, read_settings
from weft.cli.show import show
from weft.cli.source import source, sources
from weft.cli.status import status
from weft.cli.stored_views import stored_views as views
from weft.cli.trace import trace
from weft.errors import QueryError, QueryWarning, WeftError
from weft.kernel import BUILT_FOR


class Commands(TyperGroup):
    """The commands. What Weft or the file system refuses becomes a line on standard error and exit code 2.

    A warning about a query is told on standard error, once, however often the query is read.
    """

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", QueryWarning)
            warnings.showwarning = _Teller(warnings.showwarning)
            return self._invoke(ctx)

    def _invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read the output has seen enough
        except (WeftError, OSError) as error:
            text = str(error)
            if isinstance(error, OSError) and error.filename:
                text = f"{error.filename}: {error.strerror}"
            tell(text if isinstance(error, QueryError) else f"weft: {text}", error=type(error).__name__)
            raise typer.Exit(2) from None


class _Teller:
    """Shows warnings: those about queries as errors are shown, each once, and others as Python does."""

    def __init__(self, show: Callable[..., object]) -> None:
        self._show = show
        self._told: set[str] = set()

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not isinstance(message, QueryWarning):
            self._show(message, category, filename, lineno, file, line)
        elif (text := str(message)) not in self._told:
            self._told.add(text)
            typer.echo(f"warning: {text}", err=True)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # a query is full of brackets, which markup would swallow
    pretty_exceptions_enable=False,
)
app.command()(match)
app.command()(check)
app.command("test")(trace)
app.command()(explain)
app.command()(run)
app.command()(header)
app.command()(show)
app.command()(status)
app.command()(query)
app.command()(serve_queries)
app.add_typer(network, name="network")
app.add_typer(generate, name="generate")
app.add_typer(views, name="views")
app.add_typer(source, name="source")
app.add_typer(sources, name="sources")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"weft {version('weft')}, core compiled for {BUILT_FOR}")
        raise typer.Exit


# Long: it is the text of --help.
@app.callback()
def weft(
    ctx: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what happens on standard error.")] = False,
    log_format: Annotated[
        LogFormat, typer.Option("--log-format", help="Lines for people, or an object for each.")
    ] = "text",
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What options say instead: weft.toml, if it is here.")
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Match XML documents against very many standing queries at once.

    Write one XPath a line into a file, and see which of your documents they match:

    \b
      weft match subscriptions.xpath news/
      weft check subscriptions.xpath
      weft test "//person/family" news/001.xml

    \b
    Deliver a folder of them, or a stream, on Spark:

    \b
      weft run --subscriptions subscriptions.xpath --documents news/ --output out/
      weft show out/

    \b
    Route them through a network of servers:

    \b
      weft network simulate network.toml --documents news/

    Queries are XPath, FLWR (XQuery that builds messages) or XSCL (joins between documents).

    Results go to standard output as JSON Lines, everything else to standard error. The exit code is 0 if all went
    well, 1 if a document was rejected, 2 if the queries or the options are wrong.
    """
    tables = read_settings(config)
    general = tables.pop(GENERAL, {})
    ctx.default_map = defaults_of(ctx.command, tables, str(config or "weft.toml"))
    set_up_logging(verbose or general.get("verbose") is True, general.get("log-format", log_format))


def main() -> None:
    """Run the command line of this process."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends us quietly, like any other filter
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A path that is not UTF-8 has lone surrogates; their backslash form is also JSON's.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app()
