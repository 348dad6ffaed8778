"""A name as written in a query in, a label test with its namespace out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_XML = "http://www.w3.org/XML/1998/namespace"
_SCHEMA = "http://www.w3.org/2001/XMLSchema"


@dataclass(frozen=True, slots=True)
class Names:
    """How a query's names are read: its prefixes (the empty one is for elements), or no namespaces at all."""

    namespaces: Mapping[str, str] = field(default_factory=dict)
    ignore_namespaces: bool = False

    def label(self, name: str, is_attribute: bool) -> str:
        """The label test for a name; raises KeyError with the prefix that is not declared."""
        prefix, colon, local = name.rpartition(":")
        if self.ignore_namespaces:
            return "*" if local == "*" else f"*:{local}"
        if not colon:
            uri = "" if is_attribute or local == "*" else self.namespaces.get("", "")
        elif prefix == "*":
            return name
        elif prefix == "xml":
            uri = _XML
        else:
            uri = self.namespaces[prefix]
        return f"{{{uri}}}{local}" if uri else local

    def function(self, name: str) -> str:
        """A function's name, with `xs` for whatever prefix stands for XML Schema; `xs` does unless it is declared."""
        prefix, colon, local = name.rpartition(":")
        if not colon:
            return name
        uri = self.namespaces.get(prefix, _SCHEMA if prefix == "xs" else "")
        return f"xs:{local}" if uri == _SCHEMA else f"{{{uri}}}{local}"
