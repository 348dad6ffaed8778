"""Random numbers in, news items out: events of the week, each told by one agency or two."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from demo_inbox.world import COUNTRIES, COUNTRY_OF, MONDAY, WORLD, draw_person, read_pool, slugged

POOL = read_pool("news")
EDITIONS = ((5, "night"), (11, "morning"), (16, "midday"), (22, "evening"), (24, "night"))  # until which hour


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, with the words for it."""

    story: dict[str, Any]
    city: str
    happened: datetime
    person: str
    words: dict[str, str]
    slug: str


@dataclass(frozen=True, slots=True)
class Report:
    """What an agency sends of an event: version 0 comes first, version 1 follows."""

    event: Event
    version: int
    sent: datetime
    agency: str
    reporter: str


def make_news(rng: Random) -> list[str]:
    """Four events of each story; two of them are followed by another agency a day or two later."""
    reports: list[Report] = []
    for story in POOL["stories"]:
        for number, subject in enumerate(rng.sample(find_subjects(story), 4)):
            event = draw_event(rng, story, subject)
            here = COUNTRY_OF[event.city]
            sent = event.happened + timedelta(minutes=rng.randrange(30, 200))
            reports.append(Report(event, 0, sent, COUNTRIES[here]["agency"], draw_person(rng, here)))
            if number < 2:
                others = [code for code in COUNTRIES if COUNTRIES[code]["agency"] != COUNTRIES[here]["agency"]]
                there = rng.choice(others)
                sent += timedelta(minutes=rng.randrange(1200, 2600))
                reports.append(Report(event, 1, sent, COUNTRIES[there]["agency"], draw_person(rng, there)))
    reports.sort(key=lambda report: report.sent)
    serials: dict[str, str] = {}  # of the first report of each event
    items = []
    for number, report in enumerate(reports, start=1):
        serial = f"{report.agency}-2026{number:04}"
        items.append(write_news(rng, report, serial, serials.setdefault(report.event.slug, serial)))
    return items


def find_subjects(story: dict[str, Any]) -> list[dict[str, Any]]:
    """What a story can happen to: companies that are listed, or cities that have what it needs."""
    if story.get("company"):
        return [company for company in WORLD["companies"] if "ticker" in company]
    cities = ((city, has) for country in COUNTRIES.values() for city, has in country["cities"].items())
    return [{"town": city} for city, has in cities if story.get("needs", "") in has]


def draw_event(rng: Random, story: dict[str, Any], subject: dict[str, Any]) -> Event:
    """A story that happens in a city, or to a company in its city."""
    city, name = subject["town"], escape(subject.get("name", ""))
    code = COUNTRY_OF[city]
    happened = draw_time(rng, story)
    person = draw_person(rng, code)
    n = rng.randint(*story["n"])
    ticker = ' <ticker exchange="{}">{}</ticker>'.format(*subject["ticker"]) if "ticker" in subject else ""
    words = {
        "n": f"{n:,}",
        "less": f"{max(2, int(n * rng.uniform(0.4, 0.8))):,}",
        "digit": str(rng.randint(1, 9)),
        "city": city,
        "name": name,
        "speaker": person,
        "place": f'<place><city>{city}</city> (<country code="{code}">{COUNTRIES[code]["name"]}</country>)</place>',
        "person": write_person(person, f", <function>{story['function']}</function>"),
        "company": f'<organisation sector="{subject.get("sector")}">{name}{ticker}</organisation>',
        "money": write_money(code, rng.randint(*story.get("money", [1, 1])) * 1000),
        "day": write_day(happened),
    }
    return Event(story, city, happened, person, words, slugged(f"{subject.get('name', city)} {story['slug']}"))


def draw_time(rng: Random, story: dict[str, Any]) -> datetime:
    """When it is over: at the hour that the story has, or by day."""
    day = MONDAY + timedelta(days=rng.randrange(5))
    by_day = time(rng.randrange(6, 20), rng.randrange(60))
    return datetime.combine(day, story.get("time", by_day), day.tzinfo)


def write_person(person: str, more: str = "") -> str:
    """A person, with `more` where they are introduced."""
    given, family = person.split(" ", 1)
    return f'<person key="{slugged(person)}"><given>{given}</given> <family>{family}</family>{more}</person>'


def write_day(day: datetime) -> str:
    """A day by its name."""
    return f'<date day="{day:%Y-%m-%d}">{day:%A}</date>'


def write_money(country: str, euros: float) -> str:
    """An amount in the money of a country, with two digits that count."""
    currency, word, rate = COUNTRIES[country]["currency"]
    amount = float(f"{euros * rate:.1e}")
    size, unit = next(pair for pair in ((1e9, "billion "), (1e6, "million "), (0, "")) if amount >= pair[0])
    return f'<money currency="{currency}"><number>{amount / (size or 1):,.12g}</number> {unit}{word}</money>'


def write_news(rng: Random, report: Report, serial: str, first: str) -> str:
    """A news item in the vocabulary of news.dtd."""
    story = report.event.story
    words = report.event.words | {"today": write_day(report.sent)}
    headlines = [headline.format_map(words) for headline in story["headlines"]]
    earlier = f'<story key="{first}" relation="earlier"><title>{headlines[0]}</title></story>'
    return str(POOL["form"]).format(
        serial=serial,
        title=headlines[report.version],
        desk=story["desk"],
        code=story["code"],
        keywords="".join(f"<keyword>{keyword}</keyword>" for keyword in story["keywords"]),
        slug=report.event.slug,
        city=report.event.city,
        country=COUNTRY_OF[report.event.city],
        country_name=COUNTRIES[COUNTRY_OF[report.event.city]]["name"],
        related="" if serial == first else f"\n    <related>{earlier}</related>",
        **write_envelope(rng, report),
        **write_body(rng, report, words),
    )


def write_envelope(rng: Random, report: Report) -> dict[str, Any]:
    """Who sends it, when, and how urgent it is; only what comes first can be urgent."""
    agency = report.agency
    urgent = report.event.story.get("urgent") if report.version == 0 else None
    hop = f'<hop server="{agency.lower()}-{rng.randint(1, 4)}"><delay seconds="{rng.randint(1, 9)}"/></hop>'
    return {
        "sender": agency.lower(),
        "agency": agency,
        "agency_name": WORLD["agencies"][agency],
        "sent": report.sent,
        "edition": next(name for until, name in EDITIONS if report.sent.hour < until),
        "level": "regular" if urgent is None else "flash" if urgent >= 95 else "urgent",
        "score": "" if urgent is None else f' score="{urgent + rng.randint(-3, 2)}"',
        "route": "" if urgent is None else f"\n      <route>{hop}</route>",
    }


def write_body(rng: Random, report: Report, words: dict[str, str]) -> dict[str, str]:
    """What the item says; who is named already is not introduced again."""
    event, story = report.event, report.event.story
    lead, more = story["leads"][report.version], story["more"]
    speaker = write_person(event.person) if "{person}" in lead + more else words["person"]
    saying = f' <saying speaker="{event.person}">“{story["saying"]}”</saying>, said {speaker}.'
    wrong = f"<paragraph>An earlier version misspelt the name of {event.person}.</paragraph>"
    tail = f'\n    <tail><correction number="1">{wrong}</correction></tail>'
    return {
        "reporter": write_person(report.reporter),
        "lead": lead.format_map(words),
        "more": more.format_map(words) + (saying if report.version == 0 else ""),
        "block": write_block(rng, event) if report.version == 0 else write_quotation(event),
        "correction": tail if rng.random() < 0.04 else "",
    }


def write_block(rng: Random, event: Event) -> str:
    """The list, timeline or table that a story has."""
    story = event.story
    if "list" in story:
        return f'\n    <list kind="bullet">{"".join(f"<entry>{entry}</entry>" for entry in story["list"])}</list>'
    if "moments" in story:
        day = f"{event.happened:%Y-%m-%d}"
        moments = (
            f'\n      <moment><date day="{day}">{clock}</date><paragraph>{text}</paragraph></moment>'
            for clock, text in story["moments"]
        )
        return f"\n    <timeline>{''.join(moments)}\n    </timeline>"
    if "table" in story:
        caption, *names = story["table"]
        first, second = rng.randint(35, 60), rng.randint(15, 30)
        shares = zip(names, (first, second, 100 - first - second), strict=True)
        columns = '<columns><column>Region</column><column unit="percent">Share</column></columns>'
        rows = "".join(f"<row><cell>{name}</cell><cell><number>{n}</number></cell></row>" for name, n in shares)
        return f"\n    <table><caption>{caption}</caption>{columns}{rows}</table>"
    return ""


def write_quotation(event: Event) -> str:
    """What was said, set apart."""
    said = f"<paragraph>{event.story['saying']}.</paragraph><source>{write_person(event.person)}</source>"
    return f"\n    <quotation>{said}</quotation>"
