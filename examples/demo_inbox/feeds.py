"""Random numbers in, Atom entries out: four weeks of four sites, with entries that are posted again or answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from demo_inbox.world import MONDAY, read_pool, slugged

POOL = read_pool("feeds")
SITES: dict[str, list[str]] = POOL["sites"]
WEEKS = 4
PER_WEEK = 20
GEORSS = ' xmlns:georss="http://www.georss.org/georss"'
THREAD = ' xmlns:thr="http://purl.org/syndication/thread/1.0"'
XHTML = "http://www.w3.org/1999/xhtml"


@dataclass(frozen=True, slots=True)
class Entry:
    """What appears on a site; `names`, `more` and `text` are markup, and without a `slug` the title gives it."""

    site: str
    author: str
    term: str
    title: str
    names: str = ""
    more: str = ""
    text: str = ""
    slug: str = ""

    @property
    def id(self) -> str:
        """The name of the entry for ever."""
        return f"tag:{self.site},2026:{self.slug or slugged(self.title)}"


def make_feeds(rng: Random) -> list[str]:
    """Each week what is new comes first, then what is posted again, and comments on all that."""
    pieces = rng.sample(POOL["pieces"], len(POOL["pieces"]))
    written: list[Entry] = []
    answers: dict[str, int] = {}
    for week in range(WEEKS):
        titles = [entry.title for entry in written]
        before = [entry for entry in written if entry.term in ("howto", "essay") and titles.count(entry.title) == 1]
        new = [*draw_series(rng, week), *(draw_piece(rng, piece) for piece in pieces[4 * week : 4 * week + 4])]
        written += rng.sample(new, len(new))
        last = [post_again(rng, entry) for entry in rng.sample(before, min(3, len(before)))]
        subjects = [entry for entry in written if entry.term != "comment"]
        for subject in rng.sample(subjects, PER_WEEK - len(new) - len(last)):
            answers[subject.id] = answers.get(subject.id, 0) + 1
            last.append(draw_comment(rng, subject, answers[subject.id]))
        written += rng.sample(last, len(last))
    start = MONDAY - timedelta(weeks=WEEKS - 1)
    step = timedelta(weeks=1) / PER_WEEK
    return [
        write_entry(entry, start + number * step + timedelta(seconds=rng.randrange(3 * 3600)))
        for number, entry in enumerate(written)
    ]


def draw_series(rng: Random, week: int) -> Iterator[Entry]:
    """What appears every week: two episodes, a release, a count of sheep, two workshops and what the shop wants."""
    weaver, planner, atelier, tides = SITES
    for number in (2 * week, 2 * week + 1):
        title = f"Episode {15 + number}: {POOL['guests'][number]}"
        sound = enclosure(weaver, title, "audio/mpeg", rng.randrange(24_000_000, 48_000_000))
        yield Entry(weaver, rng.choice(SITES[weaver]), "podcast", title, more=sound)
    title = f"Release 3.{6 + week}: {POOL['releases'][week]}"
    archive = enclosure(planner, title, "application/zip", rng.randrange(4_800_000, 5_600_000))
    yield Entry(planner, SITES[planner][0], "release", title, more=archive)
    if week < len(POOL["security"]):
        title = f"Security notice: update the planner to 3.{6 + week}.1"
        yield Entry(planner, rng.choice(SITES[planner]), "security", title, text=summary(POOL["security"][week]))
    count = summary(POOL["sheep"][week])
    names = f'{GEORSS} xml:lang="cy"'
    yield Entry(tides, "Gwen Prys", "sheep", f"Sheep count, week {7 + week}", names, point("52.75 -3.88"), count)
    for town in list(POOL["towns"])[2 * week : 2 * week + 2]:
        title = f"Workshop in {town}: {rng.choice(POOL['workshops'])}"
        text = summary(f"Two days, {rng.randint(6, 12)} places, soup.")
        yield Entry(atelier, rng.choice(SITES[atelier]), "event", title, GEORSS, point(POOL["towns"][town]), text)
    for word, number in (("Wanted", week + 2), ("Sold", week)):  # what is sold was wanted two weeks before
        yield Entry(atelier, rng.choice(SITES[atelier]), "shop", f"{word}: {POOL['goods'][number]}")


def draw_piece(rng: Random, piece: dict[str, Any]) -> Entry:
    """Something that is written once."""
    site = rng.choice([site for site in SITES if not site.startswith("planner")])
    body = f'\n    <div xmlns="{XHTML}"><p>{piece["text"]}</p></div>\n  '
    text = f'{summary(piece["summary"])}\n  <content type="xhtml">{body}</content>'
    rights = f"\n  <rights>{rng.choice(('CC BY 4.0', 'CC BY-NC 4.0'))}</rights>" if piece["term"] == "essay" else ""
    return Entry(site, rng.choice(SITES[site]), piece["term"], piece["title"], more=rights, text=text)


def post_again(rng: Random, entry: Entry) -> Entry:
    """The same title and author elsewhere."""
    site = rng.choice([site for site in SITES if site != entry.site])
    return replace(entry, site=site, text=summary(f"First published at {entry.site}."))


def draw_comment(rng: Random, subject: Entry, number: int) -> Entry:
    """What a reader, or someone who writes there too, has to say."""
    author = rng.choice([*POOL["readers"], *SITES[subject.site]])
    reply = f'\n  <thr:in-reply-to ref="{subject.id}"/>'
    html = escape(f"<p>{rng.choice(POOL['comments'])}</p>")
    text = f'\n  <content type="html">{html}</content>'
    slug = f"{slugged(subject.title)}-c{number}"
    return Entry(subject.site, author, "comment", f"Comment on: {subject.title}", THREAD, reply, text, slug)


def enclosure(site: str, title: str, kind: str, length: int) -> str:
    """A file that comes with an entry."""
    return f'\n  <link rel="enclosure" type="{kind}" length="{length}" href="https://{site}/media/{slugged(title)}"/>'


def point(place: str) -> str:
    """Latitude and longitude."""
    return f"\n  <georss:point>{place}</georss:point>"


def summary(text: str) -> str:
    """An entry in one sentence."""
    return f"\n  <summary>{text}</summary>"


def write_entry(entry: Entry, updated: datetime) -> str:
    """An entry as a document of its own."""
    return str(POOL["form"]).format(
        names=entry.names,
        title=entry.title,
        id=entry.id,
        site=entry.site,
        slug=entry.slug or slugged(entry.title),
        more=entry.more,
        updated=updated,
        author=entry.author,
        term=entry.term,
        text=entry.text,
    )
