"""A seed in, the demo's inbox out: a few hundred news items, payments and feed entries, three of them broken.

    python examples/make_inbox.py --output build/inbox

The documents are composed from the pools in inbox.toml, and the same seed gives the same bytes. They belong together:
agencies follow each other's stories (same slug, place and people), later payments settle or refund earlier invoices, and
feed entries are posted again elsewhere or answered. `payments/2026-03-03.zip` and `feeds/week-09.tar.gz` are archives of
documents; the other documents are files of their own. One document is cut off, one has a tag that does not match, and one
is not in the encoding that it says.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

POOLS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("inbox.toml").read_text(encoding="utf-8"))
COUNTRIES: dict[str, Any] = POOLS["countries"]
FEEDS: dict[str, Any] = POOLS["feeds"]
COUNTRY_OF: dict[str, str] = {city: code for code, country in COUNTRIES.items() for city in country["cities"]}
MONDAY = datetime(2026, 3, 2, 6, 30, tzinfo=UTC)  # of week 10
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def slugged(text: str) -> str:
    """A title as a part of an address."""
    return "-".join(re.findall(r"\w+", text.lower()))


# -- news


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, with the words for it."""

    story: dict[str, Any]
    city: str
    happened: datetime
    person: tuple[str, str]
    words: dict[str, str]
    slug: str


@dataclass(frozen=True, slots=True)
class Report:
    """What an agency sends of an event."""

    event: Event
    sent: datetime
    agency: str
    reporter: tuple[str, str]
    is_first: bool


def make_news(rng: Random) -> list[str]:
    """Four events of each story; two of them are followed by another agency a day or two later."""
    reports: list[Report] = []
    for story in POOLS["stories"]:
        for number, subject in enumerate(rng.sample(subjects(story), 4)):
            event = draw_event(rng, story, subject)
            own = COUNTRIES[COUNTRY_OF[event.city]]["agency"]
            sent = event.happened + timedelta(minutes=rng.randrange(30, 200))
            reports.append(Report(event, sent, own, draw_person(rng, COUNTRY_OF[event.city]), is_first=True))
            if number < 2:
                other = rng.choice([code for code, country in COUNTRIES.items() if country["agency"] != own])
                sent += timedelta(minutes=rng.randrange(1200, 2600))
                agency = COUNTRIES[other]["agency"]
                reports.append(Report(event, sent, agency, draw_person(rng, other), is_first=False))
    reports.sort(key=lambda report: report.sent)
    serials: dict[str, str] = {}  # of the first report of an event
    items = []
    for number, report in enumerate(reports, start=1):
        serial = f"{report.agency}-2026{number:04}"
        items.append(write_news(rng, report, serial, serials.setdefault(report.event.slug, serial)))
    return items


def subjects(story: dict[str, Any]) -> list[Any]:
    """What a story can be about: companies, or cities that have what it needs."""
    if story.get("company"):
        return list(POOLS["companies"])
    cities = ((city, has) for country in COUNTRIES.values() for city, has in country["cities"].items())
    return [{"town": city} for city, has in cities if story.get("needs", "") in has]


def draw_person(rng: Random, country: str) -> tuple[str, str]:
    """A name as they have it there."""
    return rng.choice(COUNTRIES[country]["given"]), rng.choice(COUNTRIES[country]["family"])


def draw_event(rng: Random, story: dict[str, Any], subject: dict[str, Any]) -> Event:
    """A story that happens in a city, or to a company in its city."""
    city, name = subject["town"], escape(subject.get("name", ""))
    code = COUNTRY_OF[city]
    happened = MONDAY + timedelta(minutes=rng.randrange(6 * 24 * 60))
    given, family = person = draw_person(rng, code)
    n = rng.randint(*story["n"])
    ticker = '<ticker exchange="{}">{}</ticker>'.format(*subject["ticker"]) if "ticker" in subject else ""
    words = {
        "n": f"{n:,}",
        "less": f"{max(2, int(n * rng.uniform(0.4, 0.8))):,}",
        "digit": str(rng.randint(1, 9)),
        "city": city,
        "name": name,
        "speaker": f"{given} {family}",
        "place": f'<place><city>{city}</city> (<country code="{code}">{COUNTRIES[code]["name"]}</country>)</place>',
        "person": write_person(person, f", <function>{story['function']}</function>"),
        "company": f'<organisation sector="{subject.get("sector")}">{f"{name} {ticker}".strip()}</organisation>',
        "money": write_money(code, rng.randint(*story.get("money", [1, 1])) * 1000),
        "day": f'<date day="{happened:%F}">{happened:%A}</date>',
    }
    return Event(story, city, happened, person, words, slugged(f"{name or city} {story['slug']}"))


def write_person(person: tuple[str, str], more: str = "") -> str:
    """A person; with `more` where they are introduced."""
    given, family = person
    name = f"<given>{given}</given> <family>{family}</family>"
    return f'<person key="{slugged(f"{given} {family}")}">{name}{more}</person>'


def write_money(country: str, euros: float) -> str:
    """An amount in the money of a country, with two digits that count."""
    currency, word, rate = COUNTRIES[country]["currency"]
    amount = float(f"{euros * rate:.1e}")
    for size, unit in ((1e9, "billion "), (1e6, "million "), (1, "")):
        if amount >= size:
            break
    return f'<money currency="{currency}"><number>{amount / size:,.12g}</number> {unit}{word}</money>'


def write_news(rng: Random, report: Report, serial: str, first: str) -> str:
    """A news item by the vocabulary of news.dtd."""
    event, story, agency, sent = report.event, report.event.story, report.agency, report.sent
    version = 0 if report.is_first else 1
    words = event.words | {"today": f'<date day="{sent:%F}">{sent:%A}</date>'}
    title = story["headlines"][version].format_map(words)
    edition = "morning" if 5 <= sent.hour < 11 else "midday" if sent.hour < 16 and sent.hour > 5 else "evening"
    country = COUNTRY_OF[event.city]
    keywords = "".join(f"<keyword>{word}</keyword>" for word in story["keywords"])
    related = f'\n    <related><story key="{first}" relation="earlier"><title>{story["headlines"][0].format_map(words)}</title></story></related>'
    return f"""{DECLARATION}<news version="2.1" edition="{edition}" lang="en">
"""
