"""Weft matches a stream of XML documents against very many standing queries at once."""

import typing as _typing
from importlib import import_module as _import_module
from importlib.metadata import version as _version

from weft.documents import Document, Dtd, Limits
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

if _typing.TYPE_CHECKING:
    from weft import spark as spark
    from weft.broker.broker import Broker
    from weft.broker.courier import Undelivered
    from weft.broker.destinations import Message
    from weft.broker.ids import Ids
    from weft.broker.published import Published
    from weft.broker.stream_rules import StreamRule, load_stream_rules
    from weft.broker.subscriptions import Subscription, load_subscriptions
    from weft.broker.typed_arrow import as_table
    from weft.engine.paths.bounds import Bounds
    from weft.views.server import QueryServer as QueryServer

    __version__: str

__all__ = [
    "Bounds",
    "Broker",
    "ConfigurationError",
    "DeliveryError",
    "Document",
    "DocumentError",
    "Dtd",
    "Ids",
    "Limits",
    "Message",
    "MessageError",
    "Published",
    "QueryError",
    "QueryWarning",
    "StreamRule",
    "Subscription",
    "Undelivered",
    "UnsupportedError",
    "WeftError",
    "as_table",
    "load_stream_rules",
    "load_subscriptions",
]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """What is large, or needs an extra, is loaded when it is first asked for: a worker of Spark needs little."""
        match name:
            case "Bounds":
                from weft.engine.paths import labels as home  # noqa: PLC0415
            case "Broker":
                from weft.broker import broker as home  # noqa: PLC0415
            case "Ids":
                from weft.broker import ids as home  # noqa: PLC0415
            case "Message":
                from weft.broker import destinations as home  # noqa: PLC0415
            case "Published":
                from weft.broker import published as home  # noqa: PLC0415
            case "StreamRule" | "load_stream_rules":
                from weft.broker import stream_rules as home  # noqa: PLC0415
            case "Subscription" | "load_subscriptions":
                from weft.broker import subscriptions as home  # noqa: PLC0415
            case "as_table":
                try:
                    home = _import_module("weft.broker.typed_arrow")
                except ModuleNotFoundError as error:
                    raise ImportError(f"weft.as_table needs {error.name}: pip install 'weft[spark]'") from None
            case "Undelivered":
                from weft.broker import courier as home  # noqa: PLC0415
            case "QueryServer":
                try:
                    home = _import_module("weft.views.server")
                except ModuleNotFoundError as error:
                    raise ImportError(f"weft.QueryServer needs {error.name}: pip install 'weft[views]'") from None
            case "__version__":
                return _version("weft")
            case "spark":
                try:
                    return _import_module("weft.spark")
                except ModuleNotFoundError as error:
                    raise ImportError(f"weft.spark needs Spark ({error}): pip install 'weft[spark]'") from None
            case _:
                raise AttributeError(f"module 'weft' has no attribute {name!r}")
        return getattr(home, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
