"""What formats and metrics need beside the rest: loaded when it is asked for, or one line on what to install."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from weft.errors import ConfigurationError


def delta_tables() -> ModuleType:
    """The module that writes and reads Delta tables (`delta`)."""
    try:
        return import_module("weft.delivery.delta")
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"the format delta needs {error.name}: pip install 'weft[delta]'") from None


def prometheus() -> ModuleType:
    """The module that serves metrics (`prometheus`)."""
    try:
        return import_module("weft.delivery.prometheus")
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"metrics need {error.name}: pip install 'weft[operations]'") from None
