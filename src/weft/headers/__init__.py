"""Stream views: byte offsets that travel beside a document, so that servers downstream need not parse it."""

from weft.headers.configuration import Configuration, View, configure, read_configurations, write_configurations
from weft.headers.header import HTTP_HEADER, RECORD_HEADER, Header, HeaderError, decode
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import Producer, attach

__all__ = [
    "HTTP_HEADER",
    "RECORD_HEADER",
    "Configuration",
    "Header",
    "HeaderError",
    "HeaderMatcher",
    "Producer",
    "View",
    "attach",
    "configure",
    "decode",
    "read_configurations",
    "write_configurations",
]
