"""Random numbers in, payments out: three days of invoices, wages and gifts, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from uuid import UUID
from xml.sax.saxutils import escape

from demo_inbox.world import COUNTRIES, COUNTRY_OF, MONDAY, WORLD, draw_person, read_pool

POOL = read_pool("payments")


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
    companies = [party(f"{c['name']} {c['form']}", c["town"]) for c in WORLD["companies"]]
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
        number = rng.randrange(10_000, 100_000)
        text = f"Invoice {number}, {rng.choice(WORLD['companies'][creditor]['sells'])}"
        purpose = rng.choice(("TRAD", "SUPP", "GDDS"))
        instruction = rng.choice(POOL["instructions"]) if rng.random() < 0.08 else ""
        cents = int(10 ** rng.uniform(4.3, 6.9))
        parties = companies[debtor], companies[creditor]
        run.append(Transfer(*parties, cents, purpose, f"INV-{number}", escape(text), instruction=instruction))
    return run


def draw_payroll(rng: Random, companies: list[dict[str, str]]) -> list[Transfer]:
    """A company pays some of its people."""
    company = rng.choice(companies)
    people = {person["name"]: person for person in (citizen(rng, company["country"]) for _ in range(rng.randint(3, 8)))}
    return [
        Transfer(company, person, rng.randrange(210_000, 620_000, 10), "SALA", "SAL-2026-02", "Salary February")
        for person in people.values()  # everyone once
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
    return [Transfer(debtor, creditor, cents, "CORT", reference, rng.choice(POOL["large"]), is_urgent=True)]


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
    return [Transfer(company, office, cents, "TAXS", "TAX-2026-02", rng.choice(POOL["tax"]))]


def draw_gift(rng: Random, _companies: list[dict[str, str]]) -> list[Transfer]:
    """Someone gives something to a charity."""
    charity = party(*rng.choice(POOL["charities"]))
    text = rng.choice(POOL["charity"])
    return [Transfer(citizen(rng), charity, rng.randrange(2_000, 60_000, 500), "CHAR", "NOTPROVIDED", text)]


def draw_private(rng: Random, _companies: list[dict[str, str]]) -> list[Transfer]:
    """Someone pays a friend."""
    text = rng.choice(POOL["private"])
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
    return str(POOL["payment"]).format(created=created, number=number, count=len(run), total=total, transfers=transfers)


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
    return str(POOL["transfer"]).format(
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
