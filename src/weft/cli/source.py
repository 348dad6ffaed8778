"""`weft source` and `weft sources`: serve XML as a source; add, list, check and remove those of a query server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.libraries import libraries
from weft.cli.quantities import read_seconds, read_size
from weft.views.sources.rates import Rate, Rates

source = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
sources = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

StoreFolder = Annotated[
    Path,
    typer.Option("--store", metavar="DIR", envvar="WEFT_STORE", help="The folder of the query server."),
]
STORE = Path("weft-views")
_ProcessingRate = Annotated[
    str | None,
    typer.Option("--processing-rate", metavar="SIZE", help="Bytes of results that it finds in a second: 1MB."),
]
_TransmissionRate = Annotated[
    str | None,
    typer.Option("--transmission-rate", metavar="SIZE", help="Bytes of results that arrive in a second: 500kB."),
]
_LatencyTime = Annotated[
    str | None,
    typer.Option("--latency", metavar="TIME", help="Until an answer begins: 20ms. Without a unit it is seconds."),
]
_Timeout = Annotated[float, typer.Option(min=0.001, help="Seconds that a source may take to answer.")]


@source.callback()
def _source() -> None:
    """Serve XML to query servers.

    \b
      weft source serve shop.xml --port 8321
    """


# Long: nearly all of it is options and the text of --help.
@source.command()
def serve(
    documents: Annotated[
        Path, typer.Argument(metavar="FILE_OR_FOLDER", show_default=False, help="XML, also .gz, .zip and .tar.")
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8321,
    host: Annotated[str, typer.Option(help="Where to listen; other machines reach 0.0.0.0.")] = "127.0.0.1",
    name: Annotated[str | None, typer.Option(help="The source's name, unless it is the root element.")] = None,
    rate: Annotated[str | None, typer.Option("--rate", metavar="SIZE", help="Both of the rates below: 1MB.")] = None,
    processing_rate: _ProcessingRate = None,
    transmission_rate: _TransmissionRate = None,
    latency: _LatencyTime = None,
) -> None:
    """Serve a file or a folder as a source: queries are evaluated here, and only their answers travel.

    The rates hold it back to what is given, to try out how slow and distant sources behave; without them it is as
    fast as it can be. It is served without any check of who asks, so other machines should not reach it unless all of
    the documents may be read by anybody.

    \b
      weft source serve shop.xml --port 8321 --processing-rate 1MB --transmission-rate 500kB --latency 20ms
      weft sources add http://127.0.0.1:8321

    \b
    GET  /documents          ids, versions, sizes, tokens, and the rates
    GET  /document?id=ID     a document; ETag, If-None-Match and Range are understood
    GET  /regions?id=ID      [offset, length, hash] of its parts, by which changed ranges are found
    POST /select             {"queries": [{"xpath": "/shop/item", "namespaces": {}}]}: rows as JSON Lines, or as Arrow
    POST /measure, /explain  the same: counts and sizes of the answers; what they would cost
    """
    with libraries():
        from weft.views.sources.opening import open_source  # noqa: PLC0415
        from weft.views.sources.running import serve as serve_source  # noqa: PLC0415

    opened = open_source(documents, name)
    number = len(opened.tokens())
    found = f"{opened.name}: {number:,} document{'' if number == 1 else 's'}"
    rates = _rates(processing_rate or rate, transmission_rate or rate, latency)
    serve_source(
        opened,
        rates,
        host=host,
        port=port,
        on_start=lambda address: typer.echo(f"{found}, served at {address} (end with Ctrl-C)", err=True),
    )


@sources.callback()
def _sources() -> None:
    """The sources that a query server asks: files, folders, archives and addresses.

    \b
      weft sources add shop.xml
      weft sources add http://127.0.0.1:8321 --transmission-rate 500kB
      weft sources list
      weft sources check
    """


@sources.command()
def add(
    location: Annotated[str, typer.Argument(metavar="LOCATION", show_default=False, help="A path, or http://…")],
    name: Annotated[str | None, typer.Option(help="Its name, unless it is the root element.")] = None,
    processing_rate: _ProcessingRate = None,
    transmission_rate: _TransmissionRate = None,
    latency: _LatencyTime = None,
    store: StoreFolder = STORE,
) -> None:
    """Add a source: a file, a folder, an archive or an address. Answers come in the order of adding.

    The root element of its documents names it: queries that begin with another root need not ask it. Rates that are
    not given are measured with every answer, and remembered. An address is a served source (weft source serve), or
    any XML document, which is fetched whole and again when it changes.

    \b
      weft sources add shop.xml
      weft sources add orders/ --name orders
      weft sources add http://127.0.0.1:8321 --processing-rate 1MB --transmission-rate 500kB --latency 20ms
    """
    with libraries():
        from weft.cli.source_report import add_source  # noqa: PLC0415

    add_source(store, location, name, _rates(processing_rate, transmission_rate, latency))


@sources.command("list")
def show_list(store: StoreFolder = STORE) -> None:
    """List the sources with their rates: given ones, or what was measured, with its spread."""
    with libraries():
        from weft.cli.source_report import list_sources  # noqa: PLC0415

    list_sources(store)


@sources.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="As weft sources list shows it.")],
    store: StoreFolder = STORE,
) -> None:
    """Remove a source. Views that were made of it stay as they are until they are refreshed."""
    with libraries():
        from weft.cli.source_report import remove_source  # noqa: PLC0415

    remove_source(store, name)


@sources.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these.")] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Fetch a little and then all that each holds, to measure its rates.")
    ] = False,
    timeout: _Timeout = 60.0,
    store: StoreFolder = STORE,
) -> None:
    """Ask each source whether it is there, and which documents changed since it was added or last checked.

    The exit code is 1 if one does not answer.
    """
    with libraries():
        from weft.cli.source_report import check_sources  # noqa: PLC0415

    if not check_sources(store, names or [], measure, timeout):
        raise typer.Exit(1)


def _rates(processing: str | None, transmission: str | None, latency: str | None) -> Rates:
    return Rates(
        None if processing is None else Rate(read_size("--processing-rate", processing)),
        None if transmission is None else Rate(read_size("--transmission-rate", transmission)),
        None if latency is None else Rate(read_seconds("--latency", latency)),
    )
