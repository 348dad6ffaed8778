"""TOML in, a topology out, and back; what is wrong is told with its place, what was expected and what was found."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from weft.broker.subscriptions import Subscription, load_subscriptions
from weft.durable import write_atomically
from weft.errors import ConfigurationError, WeftError
from weft.headers.configuration import Configuration, configure, read_configurations
from weft.headers.selection.problem import BANDWIDTH
from weft.network.topology import NetworkSource, ServerSetup, Topology

_NUMBER = (int, float)
_NETWORK = {
    "name": str,
    "views": object,
    "paths": int,
    "bandwidth": _NUMBER,
    "links": list,
    "server": list,
    "source": list,
}
_SERVER = {"name": str, "subscriptions": object, "views": object}
_SOURCE = {"name": str, "server": str, "stream": str}
_SUBSCRIPTION = {"id": object, "query": str, "language": str, "namespaces": dict, "ignore_namespaces": bool}
_VIEWS = {"name": str, "version": int, "views": list, "namespaces": dict, "root": str, "doctype": str, "stream": str}
_LINK = "expected 'FROM -> TO' or 'ONE <-> OTHER'"


def read_topology(path: str | Path) -> Topology:
    """The topology of a TOML file, as docs/networks.md tells; files that it names are found from where it lies."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigurationError(f"{path}: {reason}") from None
    return as_topology(content, path)


def as_topology(content: dict[str, Any], path: Path) -> Topology:
    """The topology that the content of a file says."""
    try:
        return _topology(content, path)
    except WeftError as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _topology(content: dict[str, Any], path: Path) -> Topology:
    _check("network", content, _NETWORK, ("server", "source"))
    name = content.get("name", path.stem)
    servers = tuple(_server(table, number, path) for number, table in enumerate(content.get("server", []), start=1))
    sources = tuple(_source(table, number) for number, table in enumerate(content.get("source", []), start=1))
    links = tuple(dict.fromkeys(link for text in content.get("links", []) for link in _links(text)))
    configurations = _configurations("views", content.get("views", []), name, path.parent)
    bandwidth = float(content.get("bandwidth", BANDWIDTH))
    return Topology(name, servers, links, sources, configurations, content.get("paths", 1), bandwidth)


def _server(table: object, number: int, path: Path) -> ServerSetup:
    place = f"server {number}"
    _check(place, table, _SERVER, ("name",))
    assert isinstance(table, dict)
    place = f"server {number} ({table['name']})"
    return ServerSetup(
        table["name"],
        _subscriptions(f"{place}: subscriptions", table.get("subscriptions", []), path),
        _configurations(f"{place}: views", table.get("views", []), table["name"], path.parent),
    )


def _source(table: object, number: int) -> NetworkSource:
    _check(f"source {number}", table, _SOURCE, ("name", "server"))
    assert isinstance(table, dict)
    return NetworkSource(table["name"], table["server"], table.get("stream"))


def _links(text: object) -> list[tuple[str, str]]:
    words = text.split() if isinstance(text, str) else []
    if len(words) != 3 or words[1] not in ("->", "<->"):
        raise ConfigurationError(f"links: {_LINK}, found {text!r}")
    one, arrow, other = words
    return [(one, other), (other, one)] if arrow == "<->" else [(one, other)]


def _subscriptions(place: str, given: object, path: Path) -> tuple[Subscription, ...]:
    if isinstance(given, str):
        return tuple(load_subscriptions(path.parent / given))
    if not isinstance(given, list):
        raise ConfigurationError(f"{place}: expected a list of queries, or a file, found {given!r}")
    found: list[Subscription] = []
    for number, entry in enumerate(given, start=1):
        where = f"{place} {number}"
        if isinstance(entry, str):
            found.append(Subscription(str(number), entry, place=f"{path}: {where}"))
            continue
        _check(where, entry, _SUBSCRIPTION, ("query",))
        id = entry.get("id", number)
        if not isinstance(id, str | int) or id == "":
            raise ConfigurationError(f"{where}: id: expected text or a number, found {id!r}")
        found.append(Subscription(**{**entry, "id": str(id), "place": f"{path}: {where}"}))
    return tuple(found)


def _configurations(place: str, given: object, name: str, folder: Path) -> tuple[Configuration, ...]:
    if isinstance(given, str):
        return read_configurations(folder / given)
    if isinstance(given, dict):
        given = [given]
    if not isinstance(given, list):
        raise ConfigurationError(f"{place}: expected XPaths, tables, or a file, found {given!r}")
    try:
        if all(isinstance(view, str) for view in given):
            return (configure(name, given),) if given else ()
        return tuple(_configuration(place, table) for table in given)
    except WeftError as error:
        raise ConfigurationError(f"{place}: {error}") from None


def _configuration(place: str, table: object) -> Configuration:
    _check(place, table, _VIEWS, ("name", "views"))
    assert isinstance(table, dict)
    if not all(isinstance(view, str) for view in table["views"]):
        raise ConfigurationError(f"views: expected XPaths, found {table['views']!r}")
    return configure(**table)


def _check(place: str, table: object, known: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    """A table has these keys, and values of their kinds."""
    if not isinstance(table, dict):
        raise ConfigurationError(f"{place}: expected a table, found {table!r}")
    for key, value in table.items():
        if key not in known:
            raise ConfigurationError(f"{place}: expected one of {', '.join(known)}, found {key!r}")
        if not isinstance(value, known[key]) or (known[key] in (int, _NUMBER) and isinstance(value, bool)):
            name = "number" if known[key] is _NUMBER else known[key].__name__
            raise ConfigurationError(f"{place}: {key}: expected {name}, found {value!r}")
    for key in needed:
        if key not in table:
            raise ConfigurationError(f"{place}: expected {key!r}, found {', '.join(table) or 'nothing'}")


# -- writing


def write_topology(topology: Topology, path: str | Path) -> None:
    """Write a topology as TOML that `read_topology` reads back; all that it needs is in the one file."""
    write_atomically(Path(path), topology_text(topology))


def topology_text(topology: Topology) -> str:
    """A topology as TOML."""
    lines = [f"name = {_quoted(topology.name)}", f"paths = {topology.paths}", f"bandwidth = {topology.bandwidth!r}"]
    lines += _listed("views", topology.configurations, _views)
    lines += _listed("links", topology.links, lambda link: _quoted(" -> ".join(link)))
    for source in topology.sources:
        lines += ["", "[[source]]", f"name = {_quoted(source.name)}", f"server = {_quoted(source.server)}"]
        lines += [f"stream = {_quoted(source.stream)}"] if source.stream is not None else []
    for server in topology.servers:
        lines += ["", "[[server]]", f"name = {_quoted(server.name)}"]
        lines += _listed("subscriptions", server.subscriptions, _subscription)
        lines += _listed("views", server.configurations, _views)
    return "\n".join(lines) + "\n"


def _listed(key: str, entries: tuple[Any, ...], show: Callable[[Any], str]) -> list[str]:
    return [f"{key} = [", *(f"    {show(entry)}," for entry in entries), "]"] if entries else []


def _subscription(subscription: Subscription) -> str:
    pairs = [("id", _quoted(subscription.id)), ("query", _quoted(subscription.query))]
    if subscription.language is not None:
        pairs.append(("language", _quoted(subscription.language)))
    if subscription.namespaces:
        pairs.append(("namespaces", _namespaces(subscription.namespaces)))
    if subscription.ignore_namespaces:
        pairs.append(("ignore_namespaces", "true"))
    return _table(pairs)


def _views(configuration: Configuration) -> str:
    views = ", ".join(_quoted(view.text) for view in configuration.views)
    pairs = [("name", _quoted(configuration.name)), ("version", str(configuration.version)), ("views", f"[{views}]")]
    for key in ("root", "doctype", "stream"):
        if (value := getattr(configuration, key)) is not None:
            pairs.append((key, _quoted(value)))
    if configuration.namespaces:
        pairs.append(("namespaces", _namespaces(configuration.namespaces)))
    return _table(pairs)


def _namespaces(namespaces: Mapping[str, str]) -> str:
    return _table([(_quoted(prefix), _quoted(uri)) for prefix, uri in namespaces.items()])


def _table(pairs: list[tuple[str, str]]) -> str:
    return f"{{ {', '.join(f'{key} = {value}' for key, value in pairs)} }}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
