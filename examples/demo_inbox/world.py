"""The pools in, what they share out: countries, companies, people, and the week in which all happens."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any


def read_pool(name: str) -> dict[str, Any]:
    """The pool of that name, which stands beside this module."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


WORLD = read_pool("world")
COUNTRIES: dict[str, Any] = WORLD["countries"]
COUNTRY_OF: dict[str, str] = {city: code for code, country in COUNTRIES.items() for city in country["cities"]}
MONDAY = datetime(2026, 3, 2, 6, 30, tzinfo=UTC)  # of week 10


def draw_person(rng: Random, country: str) -> str:
    """Given and family name, as they have them there."""
    return f"{rng.choice(COUNTRIES[country]['given'])} {rng.choice(COUNTRIES[country]['family'])}"


def slugged(text: str) -> str:
    """A title as a part of an address."""
    return "-".join(re.findall(r"\w+", text.lower()))
