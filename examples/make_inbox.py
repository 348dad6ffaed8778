"""A seed in, the demo's inbox out: a few hundred news items, payments and feed entries, three of them broken.

    python examples/make_inbox.py --output build/inbox

The documents are composed from the pools and forms in demo_inbox/*.toml, and the same seed gives the same bytes. They
belong together: agencies follow each other's stories (same slug, place and people), later payments settle or refund
earlier invoices, and feed entries are posted again elsewhere or answered. Most documents are files of their own;
`payments/2026-03-03.zip` and `feeds/week-09.tar.gz` are archives of a day and a week. One document is cut off, one has
a tag that does not match, and one is not in the encoding that it says.
"""

from __future__ import annotations

import argparse
import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from random import Random

from demo_inbox.feeds import make_feeds
from demo_inbox.news import make_news
from demo_inbox.payments import make_payments

Files = dict[str, bytes]
ARCHIVED = range(40, 80)  # the payments of the second day
WEEK_09 = range(40, 60)  # the feed entries of the third week


def make_inbox(seed: int) -> Files:
    """All files, by their names below the inbox."""
    # Each kind has numbers of its own, so that a new story changes no payment.
    news, payments, feeds = (make(Random(f"{seed} {make.__name__}")) for make in (make_news, make_payments, make_feeds))
    news_files = numbered(news)
    news_files["097.xml"] = cut_off(news_files["097.xml"])
    payment_files = numbered(payments)
    payment_files["057.xml"] = payment_files["057.xml"].replace(b"</Dbtr>", b"</Cdtr>", 1)
    feed_files = numbered(feeds)
    odd = next(name for name, data in feed_files.items() if not data.isascii())
    feed_files[odd] = feed_files[odd].decode().encode("cp1252")  # yet it says utf-8
    day, payment_files = take(payment_files, ARCHIVED)
    week, feed_files = take(feed_files, WEEK_09)
    return {
        **below("news", news_files),
        **below("payments", {**payment_files, "2026-03-03.zip": zipped(day)}),
        **below("feeds", {**feed_files, "week-09.tar.gz": tarred(week)}),
    }


def numbered(documents: list[str]) -> Files:
    """Files in the order in which the documents were sent."""
    return {f"{number:03}.xml": text.encode() for number, text in enumerate(documents, start=1)}


def cut_off(data: bytes) -> bytes:
    """What arrives if the line breaks."""
    return data[: len(data) * 2 // 3]


def take(files: Files, places: range) -> tuple[Files, Files]:
    """The files at these places, and the others."""
    taken = {name: data for at, (name, data) in enumerate(files.items()) if at in places}
    return taken, {name: data for name, data in files.items() if name not in taken}


def below(folder: str, files: Files) -> Files:
    """The files in a folder."""
    return {f"{folder}/{name}": data for name, data in files.items()}


def zipped(files: Files) -> bytes:
    """A zip archive; its members have a time that is always the same."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        for name, data in files.items():
            members.writestr(zipfile.ZipInfo(name, (2026, 3, 3, 18, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def tarred(files: Files) -> bytes:
    """A compressed tar archive; likewise."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(data), 1_772_406_000  # 2026-03-01
            members.addfile(member, io.BytesIO(data))
    return gzip.compress(archive.getvalue(), mtime=0)


def main() -> None:
    """Write the inbox."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--output", type=Path, default=Path("build/inbox"))
    options = parser.parse_args()
    for name, data in make_inbox(options.seed).items():
        file = options.output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


if __name__ == "__main__":
    main()
