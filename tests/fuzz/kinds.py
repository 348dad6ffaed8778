"""The fuzzers by kind; each is imported when it is run, since some bring much with them."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from fuzz.case import Fuzzer

KINDS = {
    "documents": "Documents",
    "queries": "Queries",
    "archives": "Archives",
    "checkpoints": "Checkpoints",
    "rows": "FileRows",
    "headers": "Headers",
    "evaluation": "Evaluation",
}


def fuzzer(kind: str) -> Fuzzer:
    """The fuzzer of a kind."""
    return cast(Fuzzer, getattr(import_module(f"fuzz.{kind}"), KINDS[kind])())
