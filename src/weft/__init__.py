"""Weft matches a stream of XML documents against very many standing queries at once."""

import typing as _typing
from importlib import import_module as _import_module

from weft.broker.broker import Broker
from weft.broker.courier import Undelivered
from weft.broker.destinations import Message
from weft.broker.subscriptions import Subscription, load_subscriptions
from weft.documents import Document, Dtd, Limits
from weft.engine.paths.labels import Bounds
from weft.errors import (
    ConfigurationError,
    DeliveryError,
    DocumentError,
    MessageError,
    QueryError,
    QueryWarning,
    UnsupportedError,
    WeftError,
)

__all__ = [
    "Bounds",
    "Broker",
    "ConfigurationError",
    "DeliveryError",
    "Document",
    "DocumentError",
    "Dtd",
    "Limits",
    "Message",
    "MessageError",
    "QueryError",
    "QueryWarning",
    "Subscription",
    "Undelivered",
    "UnsupportedError",
    "WeftError",
    "load_subscriptions",
]

if _typing.TYPE_CHECKING:
    from weft import spark as spark
    from weft.views.server import QueryServer as QueryServer
else:

    def __getattr__(name: str) -> object:
        """What needs an extra is loaded when it is first asked for: the rest is there at once, and works without it."""
        if name == "QueryServer":
            try:
                return _import_module("weft.views.server").QueryServer
            except ModuleNotFoundError as error:
                raise ImportError(f"weft.QueryServer needs {error.name}: pip install 'weft[views]'") from None
        if name != "spark":
            raise AttributeError(f"module 'weft' has no attribute {name!r}")
        try:
            return _import_module("weft.spark")
        except ModuleNotFoundError as error:
            raise ImportError(f"weft.spark needs Spark ({error}): pip install 'weft[spark]'") from None
