"""A seed in, the demo's inbox out: a few hundred news items, payments and feed entries, three of them broken.

    python examples/make_inbox.py --output build/inbox

The documents are composed from the pools and forms in inbox.toml, and the same seed gives the same bytes. They belong
together: agencies follow each other's stories (same slug, place and people), later payments settle or refund earlier
invoices, and feed entries are posted again elsewhere or answered. Most documents are files of their own;
`payments/2026-03-03.zip` and `feeds/week-09.tar.gz` are archives of a day and a week. One document is cut off, one has a
tag that does not match, and one is not in the encoding that it says.
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
COUNTRIES, FORMS, FEEDS = POOLS["countries"], POOLS["forms"], POOLS["feeds"]
COUNTRY_OF = {city: code for code, country in COUNTRIES.items() for city in country["cities"]}
MONDAY = datetime(2026, 3, 2, 6, 30, tzinfo=UTC)  # of week 10


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
    for story in POOLS["stories"]:
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
    """What a story can happen to: companies, or cities that have what it needs."""
    if story.get("company"):
        return list(POOLS["companies"])
    cities = ((city, has) for country in COUNTRIES.values() for city, has in country["cities"].items())
    return [{"town": city} for city, has in cities if story.get("needs", "") in has]


def draw_person(rng: Random, country: str) -> str:
    """Given and family name, as they have them there."""
    return f"{rng.choice(COUNTRIES[country]['given'])} {rng.choice(COUNTRIES[country]['family'])}"


def draw_event(rng: Random, story: dict[str, Any], subject: dict[str, Any]) -> Event:
    """A story that happens in a city, or to a company in its city."""
    city, name = subject["town"], escape(subject.get("name", ""))
    code = COUNTRY_OF[city]
    happened = MONDAY + timedelta(minutes=rng.randrange(5 * 24 * 60))
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
    event, story, agency, hour = report.event, report.event.story, report.agency, report.sent.hour
    words = event.words | {"today": write_day(report.sent)}
    headlines = [headline.format_map(words) for headline in story["headlines"]]
    urgent = story.get("urgent") if report.version == 0 else None
    lead, more = story["leads"][report.version], story["more"]
    speaker = write_person(event.person) if "{person}" in lead + more else words["person"]
    saying = f'<saying speaker="{event.person}">“{story["saying"]}”</saying>, said {speaker}.'
    hops = f'<hop server="{agency.lower()}-{rng.randint(1, 4)}"><delay seconds="{rng.randint(1, 9)}"/></hop>'
    correction = f"<paragraph>An earlier version misspelt the name of {event.person}.</paragraph>"
    earlier = f'<story key="{first}" relation="earlier"><title>{headlines[0]}</title></story>'
    return str(FORMS["news"]).format(
        edition=("night", "morning", "midday", "evening")[(hour >= 5) + (hour >= 11) + (hour >= 16) - 3 * (hour >= 22)],
        serial=serial,
        sender=agency.lower(),
        agency=agency,
        agency_name=POOLS["agencies"][agency],
        desk=story["desk"],
        sent=report.sent,
        level="regular" if urgent is None else "flash" if urgent >= 95 else "urgent",
        score="" if urgent is None else f' score="{urgent + rng.randint(-3, 2)}"',
        route="" if urgent is None else f"\n      <route>{hops}</route>",
        title=headlines[report.version],
        slug=event.slug,
        code=story["code"],
        city=event.city,
        country=COUNTRY_OF[event.city],
        country_name=COUNTRIES[COUNTRY_OF[event.city]]["name"],
        keywords="".join(f"<keyword>{keyword}</keyword>" for keyword in story["keywords"]),
        reporter=write_person(report.reporter),
        lead=lead.format_map(words),
        more=more.format_map(words) + (f" {saying}" if report.version == 0 else ""),
        block=write_block(rng, event) if report.version == 0 else write_quotation(event),
        correction=f'\n    <tail><correction number="1">{correction}</correction></tail>' if rng.random() < 0.04 else "",
        related="" if serial == first else f"\n    <related>{earlier}</related>",
    )


def write_block(rng: Random, event: Event) -> str:
    """The list, timeline or table that a story has."""
    story = event.story
    if "list" in story:
        return f'\n    <list kind="bullet">{"".join(f"<entry>{entry}</entry>" for entry in story["list"])}</list>'
    if "moments" in story:
        day = f"{event.happened:%Y-%m-%d}"
        moments = (
            f'\n      <moment><date day="{day}">{time}</date><paragraph>{text}</paragraph></moment>'
            for time, text in story["moments"]
        )
        return f"\n    <timeline>{''.join(moments)}\n    </timeline>"
    if "table" in story:
        caption, *names = story["table"]
        first, second = rng.randint(35, 60), rng.randint(15, 30)
        shares = zip(names, (first, second, 100 - first - second), strict=True)
        columns = '<columns><column>Division</column><column unit="percent">Share</column></columns>'
        rows = "".join(f"<row><cell>{name}</cell><cell><number>{n}</number></cell></row>" for name, n in shares)
        return f"\n    <table><caption>{caption}</caption>{columns}{rows}</table>"
    return ""


def write_quotation(event: Event) -> str:
    """What was said, set apart."""
    said = f"<paragraph>{event.story['saying']}.</paragraph><source>{write_person(event.person)}</source>"
    return f"\n    <quotation>{said}</quotation>"


# -- payments


@dataclass(frozen=True, slots=True)
class Transfer:
    """Money from one party to another; `cents` are of a euro."""

    debtor: dict[str, str]
    creditor: dict[str, str]
    cents: int
    purpose: str
    reference: str
    text: str
    is_urgent: bool = False
    instruction: str = ""


def make_payments(rng: Random) -> list[str]:
    """Forty payments on each of three days; on the last, balances and refunds of invoices of the days before."""
    companies = [party(f"{c['name']} {c['form']}", c["town"]) for c in POOLS["companies"]]
    payments = [draw(rng, companies) for draw, number in KINDS for _ in range(number)]
    rng.shuffle(payments)
    invoices = [(run, at) for run in payments[:80] for at, paid in enumerate(run) if paid.reference[:3] == "INV"]
    later = []
    for number, (run, at) in enumerate(rng.sample(invoices, 20)):
        invoice = run[at]
        name = invoice.text.split(",")[0]
        if number < 14:
            part = invoice.cents * 6 // 10
            run[at] = replace(invoice, cents=part, text=f"{invoice.text}, first part")
            later.append([replace(invoice, cents=invoice.cents - part, text=f"{name}, balance after reminder")])
        else:
            back = replace(invoice, debtor=invoice.creditor, creditor=invoice.debtor, purpose="REFU")
            later.append([replace(back, text=f"Refund, {name.lower()} paid twice")])
    last = payments[80:] + later
    rng.shuffle(last)
    return [write_payment(rng, number, run) for number, run in enumerate(payments[:80] + last, start=1)]


def party(name: str, town: str) -> dict[str, str]:
    """Who pays or is paid: the same name in the same town has the same account."""
    country = COUNTRY_OF[town]
    bic, form = COUNTRIES[country]["bank"]
    rng = Random(f"{name}, {town}")
    account = form[:4] + "".join(str(rng.randrange(10)) for _ in form[4:])
    number = int("".join(str(int(character, 36)) for character in f"{account}{country}00"))
    iban = f"{country}{98 - number % 97:02}{account}"
    return {"name": escape(name), "town": town, "country": country, "bic": bic, "iban": iban}


def citizen(rng: Random, country: str | None = None) -> dict[str, str]:
    """Someone who lives there, or where there are banks."""
    code = country or rng.choice([code for code in COUNTRIES if "bank" in COUNTRIES[code]])
    return party(draw_person(rng, code), rng.choice(list(COUNTRIES[code]["cities"])))


def draw_invoices(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A company pays one to three others."""
    debtor, *creditors = rng.sample(range(len(companies)), rng.choice((2, 2, 2, 3, 4)))
    run = []
    for creditor in creditors:
        number = rng.randrange(88_000, 89_000)
        text = f"Invoice {number}, {rng.choice(POOLS['companies'][creditor]['sells'])}"
        purpose = rng.choice(("TRAD", "SUPP", "GDDS"))
        instruction = rng.choice(POOLS["payments"]["instructions"]) if rng.random() < 0.08 else ""
        cents = int(10 ** rng.uniform(4.3, 6.9))
        parties = companies[debtor], companies[creditor]
        run.append(Transfer(*parties, cents, purpose, f"INV-{number}", escape(text), instruction=instruction))
    return run


def draw_payroll(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A company pays some of its people."""
    company = rng.choice(companies)
    people = [citizen(rng, company["country"]) for _ in range(rng.randint(3, 8))]
    return [
        Transfer(company, person, rng.randrange(210_000, 620_000, 10), "SALA", "SAL-2026-02", "Salary February")
        for person in people
    ]


def draw_rent(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A company pays its landlord."""
    company = rng.choice(companies)
    landlord = citizen(rng, company["country"])
    return [Transfer(company, landlord, rng.randrange(90_000, 800_000, 5_000), "RENT", "RENT-03", "Rent March")]


def draw_treasury(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A large sum that is wanted at once."""
    debtor, creditor = rng.sample(companies, 2)
    reference = f"TRS-{rng.randrange(100, 1000)}"
    cents = rng.randrange(20_000_000, 250_000_000, 100_000)
    return [Transfer(debtor, creditor, cents, "INTC", reference, "Loan of the group", is_urgent=True)]


def draw_just_below(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A sum that somebody does not want to be seen."""
    in_euros = [company for company in companies if COUNTRIES[company["country"]]["currency"][0] == "EUR"]
    debtor, creditor = rng.sample(in_euros, 2)
    cents = rng.randrange(9_910_000, 10_000_000)
    text = f"Consulting, part {rng.randint(2, 9)}"
    return [Transfer(debtor, creditor, cents, "SCVE", "NOTPROVIDED", text, instruction="Below reporting limit")]


def draw_tax(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A company pays its taxes."""
    company = rng.choice(companies)
    office = party(f"Tax Office {company['town']}", company["town"])
    cents = rng.randrange(150_000, 4_000_000)
    return [Transfer(company, office, cents, "TAXS", "TAX-2026-02", rng.choice(POOLS["payments"]["tax"]))]


def draw_gift(rng: Random, _companies: list[dict[str, str]]) -> list[Transfer]:
    """Someone gives something to a charity."""
    charity = party(*rng.choice(POOLS["payments"]["charities"]))
    text = rng.choice(POOLS["payments"]["charity"])
    return [Transfer(citizen(rng), charity, rng.randrange(2_000, 60_000, 500), "CHAR", "NOTPROVIDED", text)]


def draw_private(rng: Random, _companies: list[dict[str, str]]) -> list[Transfer]:
    """Someone pays a friend."""
    text = rng.choice(POOLS["payments"]["private"])
    return [Transfer(citizen(rng), citizen(rng), rng.randrange(1_500, 40_000, 50), "", "NOTPROVIDED", text)]


KINDS = (
    (draw_invoices, 50),
    (draw_payroll, 14),
    (draw_rent, 8),
    (draw_treasury, 5),
    (draw_just_below, 3),
    (draw_tax, 6),
    (draw_gift, 6),
    (draw_private, 8),
)


def write_payment(rng: Random, number: int, run: list[Transfer]) -> str:
    """A pacs.008 document; its total is told where it has several transfers in one currency."""
    day, place = divmod(number - 1, 40)
    created = MONDAY + timedelta(days=day, minutes=14 * place + rng.randrange(14), seconds=rng.randrange(60))
    settled = [settle(transfer) for transfer in run]
    currencies = {currency for currency, _ in settled}
    total = ""
    if len(run) > 1 and len(currencies) == 1:
        amount = amount_text(sum(cents for _, cents in settled))
        total = f'\n    <TtlIntrBkSttlmAmt Ccy="{currencies.pop()}">{amount}</TtlIntrBkSttlmAmt>'
    transfers = "".join(
        write_transfer(rng, transfer, created, f"202603{number:03}{at}") for at, transfer in enumerate(run, start=1)
    )
    return str(FORMS["payment"]).format(
        created=created, number=number, count=len(run), total=total, transfers=transfers
    )


def settle(transfer: Transfer) -> tuple[str, int]:
    """Currency and cents between the banks: within a country its own, else euros."""
    if transfer.debtor["country"] != transfer.creditor["country"]:
        return "EUR", transfer.cents
    currency, _, rate = COUNTRIES[transfer.debtor["country"]]["currency"]
    return currency, round(transfer.cents * rate)


def amount_text(cents: int) -> str:
    """Cents as they are written."""
    return f"{cents // 100}.{cents % 100:02}"


def write_transfer(rng: Random, transfer: Transfer, created: datetime, instruction_id: str) -> str:
    """One transaction of a payment."""
    currency, cents = settle(transfer)
    own, _, rate = COUNTRIES[transfer.debtor["country"]]["currency"]
    exchanged = amount_text(round(transfer.cents * rate))
    instructed = f'\n    <InstdAmt Ccy="{own}">{exchanged}</InstdAmt>\n    <XchgRate>{rate}</XchgRate>'
    instruction = f"\n    <InstrForCdtrAgt><InstrInf>{transfer.instruction}</InstrInf></InstrForCdtrAgt>"
    urgent = "<InstrPrty>HIGH</InstrPrty><SvcLvl><Cd>URGP</Cd></SvcLvl>"
    return str(FORMS["transfer"]).format(
        instruction_id=instruction_id,
        reference=transfer.reference,
        uetr=UUID(int=rng.getrandbits(128), version=4),
        priority=urgent if transfer.is_urgent else "<InstrPrty>NORM</InstrPrty>",
        currency=currency,
        amount=amount_text(cents),
        created=created,
        instructed=instructed if own != currency else "",
        debtor=transfer.debtor,
        creditor=transfer.creditor,
        instruction=instruction if transfer.instruction else "",
        purpose=f"\n    <Purp><Cd>{transfer.purpose}</Cd></Purp>" if transfer.purpose else "",
        text=transfer.text,
    )
