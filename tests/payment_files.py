"""Payments and the answers to them, with their times inside: what XSCL finds among them is known by nested loops.

The files lie in another order than the times, and were changed last in yet another: only the times inside tell what
was answered in time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

#: So long an answer may take.
WINDOW = timedelta(hours=1)
TIMESTAMP, ID = "//CreDtTm", "//MsgId"
SETTLED = (
    "SELECT <settled of='{ $p }'/> FROM payments//Pmt->x[MsgId->p] FOLLOWED BY{p = q, 1 hour} answers//Sts[Orgnl->q]"
)
UNANSWERED = "payments//Pmt[MsgId->p] NOT FOLLOWED BY{p = q, 1 hour} answers//Sts[Orgnl->q]"
_START = datetime(2026, 3, 2, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Paper:
    """A payment or an answer."""

    stream: str
    name: str
    key: str
    of: str
    moment: datetime
    text: str


def papers(seed: int = 7, in_time: int = 19, too_late: int = 6, too_early: int = 5) -> list[Paper]:
    """As many payments as answers, of which so many come in time, too late, or before what they answer."""
    random, made = Random(seed), []
    number = in_time + too_late + too_early
    for at in range(number):
        moment = _START + timedelta(minutes=random.randrange(60 * 24 * 3), microseconds=random.randrange(10**6))
        shift = timedelta(minutes=random.randrange(1, 59))
        passed = shift if at < in_time else WINDOW + shift if at < in_time + too_late else -shift
        made.append(_paper("payments", f"P-{at:03d}", "", moment, random))
        made.append(_paper("answers", f"A-{at:03d}", f"P-{at:03d}", moment + passed, random))
    random.shuffle(made)
    return made


def _paper(stream: str, key: str, of: str, moment: datetime, random: Random) -> Paper:
    written = random.choice(list(written_times(moment)))
    root, inside = ("Pmt", "<Amt>12</Amt>") if stream == "payments" else ("Sts", f"<Orgnl>{of}</Orgnl>")
    text = f"<{root}>\n  <MsgId>{key}</MsgId><CreDtTm>{written}</CreDtTm>{inside}\n</{root}>"
    return Paper(stream, f"{random.randrange(10**9):09d}.xml", key, of, moment, text)


def written_times(moment: datetime) -> Iterator[str]:
    """A moment in the forms that documents write it in."""
    yield moment.isoformat().replace("+00:00", "Z")
    yield moment.astimezone(timezone(timedelta(hours=2))).isoformat()
    yield moment.astimezone(timezone(timedelta(hours=-5, minutes=-30))).isoformat(sep=" ")
    yield moment.replace(tzinfo=None).isoformat()  # without a zone: UTC
    yield moment.strftime("%Y%m%dT%H%M%S.%fZ")
    passed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    micros = passed // timedelta(microseconds=1)
    yield f"{micros // 10**6}.{micros % 10**6:06d}"
    yield str(micros)


def write_papers(folder: Path, some: list[Paper], seed: int = 11) -> None:
    """A file for each, in the folder of its stream, with a time of change that says nothing."""
    random = Random(seed)
    for paper in some:
        file = folder / paper.stream / paper.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(paper.text, encoding="utf-8")
        changed = _START.timestamp() + random.randrange(10**6)
        os.utime(file, (changed, changed))


def right_answers(some: list[Paper]) -> dict[str, set[tuple[str, ...]]]:
    """The keys of what each of the two queries finds, by nested loops over the definition."""
    payments = [each for each in some if each.stream == "payments"]
    answers = [each for each in some if each.stream == "answers"]
    pairs = [
        (payment.key, answer.key)
        for payment in payments
        for answer in answers
        if answer.of == payment.key and timedelta(0) < answer.moment - payment.moment <= WINDOW
    ]
    answered = {payment for payment, _ in pairs}
    return {"settled": set(pairs), "unanswered": {(each.key,) for each in payments if each.key not in answered}}
