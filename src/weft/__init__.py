"""Weft matches a stream of XML documents against very many standing queries at once."""

from weft.api import Broker
from weft.automaton.labels import Bounds
from weft.courier import Undelivered
from weft.destinations import Message
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
from weft.subscriptions import Subscription, load_subscriptions

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
