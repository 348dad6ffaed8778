"""A broker under a load made to fill its memory: after a while it must not take more, however long it goes on."""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from fuzz.case import ROOT
from weft import Bounds, Broker, Document, Message
from weft.broker import courier, matcher, publisher, undelivered
from weft.joins.match import witness
from weft.joins.output import outputs

#: So small that all that is bounded is full soon; what is not bounded grows all the same.
BOUNDS = Bounds(memory=4 << 20)
_LIVING = 100  # subscriptions
_MEGABYTE = 1 << 20


# -- the load


class Load:
    """Rounds of subscriptions that come and go, documents that were never seen, and destinations that fail."""

    def __init__(self, seed: int, kinds: frozenset[str] = frozenset({"paths", "messages", "joins", "names", "broken"})):
        self._chance, self._kinds = Random(seed), kinds
        publisher._KEPT = undelivered._KEPT = courier._MOST_TROUBLED = 500  # for the same reason
        matcher._SWEEP = witness._SWEEP = outputs._SWEEP = 500
        self._broker = Broker(bounds=BOUNDS, lateness=1.0)
        self._living: deque[str] = deque()
        self._clock = 1_700_000_000
        self.documents = self.messages = self.rejected = self.changes = 0

    def round(self) -> None:
        """Some subscriptions change, and a batch of documents comes."""
        for _ in range(8):
            self._living.append(self._broker.subscribe(self._query(), id=f"s{self.changes}", to=self._destination()))
            self.changes += 1
            if len(self._living) > _LIVING:
                self._broker.unsubscribe(self._living.popleft())
        batch = [self._document() for _ in range(16)]
        self.documents += len(batch)
        self.messages += len(self._broker.publish(batch))
        self._clock += 1

    def _query(self) -> str:
        chance = self._chance
        name, value = f"n{chance.getrandbits(20):x}", chance.getrandbits(20)
        choices = [f"/a[@x = {value % 9}]/b"]
        if "paths" in self._kinds:
            choices += [f"//{name}/b[. = '{value}']", f"//*[{name}]//c[contains(., '{value}')]", f"/a/*[@{name}]"]
            choices += [f"//b[matches(., '^{value}.*x$')]"]
        if "messages" in self._kinds:
            choices += [f"<r>{{ for $v in //a where $v/b != '{value}' return <i>{{ $v/b }}{{ $v/{name} }}</i> }}</r>"]
        if "joins" in self._kinds:
            choices += [
                "//a->o[key->x] FOLLOWED BY{x = y, 5 seconds} //a[key->y]",
                f"//a->o[key->x][@x = {value % 9}] JOIN{{x = y, 3 seconds}} //a[key->y][{name}]",
                f"//a->o[key->x] NOT FOLLOWED BY{{x = y, 4 seconds}} //a[key->y][b = {value % 100}]",
            ]
        return chance.choice(choices)

    def _destination(self) -> Callable[[Message], object] | None:
        def fails(message: Message) -> None:
            raise RuntimeError(f"no room for {message.document}")

        return fails if self._chance.random() < 0.1 else None

    def _document(self) -> Document:
        chance = self._chance
        if "broken" in self._kinds and chance.random() < 0.1:
            self.rejected += 1
            return Document(f"<a><b>{chance.getrandbits(60)}</a>" + " " * 500, stream="S", timestamp=self._clock)
        name = f"n{chance.getrandbits(40):x}" if "names" in self._kinds else "n"
        inside = "".join(
            f"<{each} {name}='1'><b>{chance.getrandbits(30)}x</b><c/></{each}>"
            for each in (name, "a", "b", f"p:{name}")
        )
        key = f"<key>{chance.randrange(2_000)}</key>"
        text = f"<a x='{chance.randrange(9)}' xmlns:p='urn:{name}'>{key}<b>{chance.randrange(100)}</b>{inside}</a>"
        return Document(text, f"{self.documents}-{chance.getrandbits(30)}", "S", self._clock + chance.randrange(2))


# -- what it takes


@dataclass(slots=True)
class Samples:
    """What was seen, at so many seconds from the start."""

    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    objects: list[int] = field(default_factory=list)

    def take(self, at: float) -> None:
        gc.collect()
        self.seconds.append(at)
        self.objects.append(len(gc.get_objects()))
        self.megabytes.append(psutil.Process().memory_info().rss / _MEGABYTE)

    def growth(self, column: list[float] | list[int]) -> float:
        """By what part of itself a column grows from the middle to the end, by the line that fits best."""
        middle = len(column) // 2
        at, values = np.array(self.seconds[middle:]), np.array(column[middle:], float)
        slope, _ = np.polyfit(at, values, 1)
        return float(slope * (at[-1] - at[0]) / values.mean())


def soak(load: Load, seconds: float, samples: int = 90) -> Samples:
    """Run for so long."""
    seen = Samples()
    start = time.monotonic()
    for number in range(samples):
        while time.monotonic() - start < seconds * (number + 1) / samples:
            load.round()
        seen.take(time.monotonic() - start)
    return seen


def plot(seen: Samples, path: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415  # it takes a second, and only the long form draws

    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(8, 3.5))
    axes.plot(seen.seconds, seen.megabytes, label="resident, MB")
    axes.set_xlabel("seconds")
    axes.set_ylim(bottom=0)
    right = axes.twinx()
    right.plot(seen.seconds, seen.objects, color="tab:orange", label="objects")
    right.set_ylim(bottom=0)
    figure.legend(loc="lower right")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _rows(load: Load, seen: Samples) -> Iterator[tuple[str, str]]:
    yield "documents", f"{load.documents:,}, of which {load.rejected:,} rejected"
    yield "changes of subscriptions", f"{load.changes:,}"
    yield "messages", f"{load.messages:,}"
    middle = len(seen.megabytes) // 2
    yield "MB at the middle, at the end", f"{seen.megabytes[middle]:.0f}, {seen.megabytes[-1]:.0f}"
    yield "objects at the middle, at the end", f"{seen.objects[middle]:,}, {seen.objects[-1]:,}"
    yield (
        "growth in the second half",
        f"{seen.growth(seen.megabytes):+.1%} MB, {seen.growth(seen.objects):+.1%} objects",
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--most-growth", type=float, default=0.05, help="in the second half, as a part of what is taken"
    )
    given = parser.parse_args()
    load = Load(given.seed)
    seen = soak(load, 60 * given.minutes)
    table = Table("soak", f"{given.minutes:g} minutes, seed {given.seed}")
    for row in _rows(load, seen):
        table.add_row(*row)
    Console(width=110).print(table)
    folder = ROOT / "build" / "soak"
    plot(seen, folder / "soak.png")
    (folder / "soak.json").write_text(json.dumps({"seconds": seen.seconds, "megabytes": seen.megabytes}))
    grows = max(seen.growth(seen.megabytes), seen.growth(seen.objects)) > given.most_growth
    print(f"plot: {folder / 'soak.png'}" + ("; memory grows" if grows else ""))
    return int(grows)


if __name__ == "__main__":
    sys.exit(main())
