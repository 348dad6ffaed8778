"""A file `weft.toml` in, what it says in place of options out.

Each command has a table, a command of a group one inside that of the group; keys are names of options, without `--`:

    [run]
    subscriptions = "subs.jsonl"
    format = "delta"
    conf = ["spark.executor.memory=4g"]

    [network.run]
    ...

What stands on the command line comes first.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from weft.errors import ConfigurationError

DEFAULT = Path("weft.toml")
#: The table for the options before the command.
GENERAL = "weft"


def read_settings(file: Path | None) -> dict[str, Any]:
    """The tables of a file, of `weft.toml` here if it is there; raises ConfigurationError for what is no TOML."""
    path = DEFAULT if file is None else file
    if file is None and not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def defaults_of(group: Any, tables: dict[str, Any], where: str) -> dict[str, Any]:
    """The settings by commands and parameters, as the parser of the command line wants them.

    Raises ConfigurationError for a command or an option that is not there.
    """
    made: dict[str, Any] = {}
    for name, table in tables.items():
        command = group.commands.get(name)
        if command is None:
            raise ConfigurationError(f"{where}: expected one of {', '.join(sorted(group.commands))}, found [{name}]")
        if not isinstance(table, dict):
            raise ConfigurationError(f"{where}: expected a table [{name}], found {table!r}")
        if hasattr(command, "commands"):
            made[name] = defaults_of(command, table, f"{where}: [{name}]")
        else:
            made[name] = _options(command, table, f"{where}: [{name}]")
    return made


def _options(command: Any, table: dict[str, Any], where: str) -> dict[str, Any]:
    known = {
        option.lstrip("-"): parameter
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    made: dict[str, Any] = {}
    for name, value in table.items():
        parameter = known.get(name)
        if parameter is None:
            raise ConfigurationError(f"{where}: expected one of {', '.join(sorted(known))}, found {name!r}")
        is_list = bool(getattr(parameter, "multiple", False)) or parameter.nargs != 1
        if isinstance(value, list) != is_list or isinstance(value, dict):
            expected = "a list" if is_list else "one value"
            raise ConfigurationError(f"{where}: expected {expected} for {name!r}, found {value!r}")
        made[parameter.name] = value
    return made
