"""A stream with joins that is killed in the middle of batches and started again: every message is there once."""

import json
import os
import time
from functools import partial
from pathlib import Path
from random import Random

import pytest
from test_kill import kill_again_and_again
from typer.testing import CliRunner

from weft import Broker, Document
from weft.cli import app
from weft.delivery.results import read_results

pytestmark = pytest.mark.slow
QUERIES = {
    "again": "S//order->o[customer->x] FOLLOWED BY{x = y, 20 seconds} S//order->p[customer->y]",
    "both": "SELECT <same>{ $x }</same> FROM S//order[customer->x][item->i] JOIN{x = y AND i = j, infinite} "
    "S//order[customer->y][item->j]",
    "third": "S//order->o[customer->x] FOLLOWED BY{x = y, 30 seconds} S//order[customer->y] "
    "FOLLOWED BY{y = z, 30 seconds} S//order[customer->z]",
    "gone": "S//order->o[customer->x][item->i] NOT FOLLOWED BY{x = y AND i = j, 120 seconds} "
    "S//order[customer->y][item->j]",
    "next": "S//order->o[customer->x] JOIN{x = y, 25 documents} S//order[customer->y]",
    "few": "S//order->o[customer->x] NOT FOLLOWED BY{x = y, 30 documents} S//order[customer->y]",
    "sum": "SELECT <sum>{ $x }</sum> FROM S//order[customer->x] FOLLOWED BY{x = y, 24 seconds} S//order[customer->y] "
    "PUBLISH T",
    "of sums": "T//sum->s[customer->x] FOLLOWED BY{x = y, 24 seconds} S//order[customer->y]",
    "large": "/order[@n > 100]/item",
}
NUMBER, AT_ONCE, THERE_BEFORE = 160, 25, 50
#: For each kill: so many micro-batches begin after the restart; then it comes somewhere in the batch, or as soon as the
#: batch has written its messages and Spark does not know it yet.
KILLS = ((2, "somewhere"), (1, "written"), (0, "somewhere"))
#: How often it is killed: three times, or as the environment says.
MANY = int(os.environ.get("WEFT_KILLS", len(KILLS)))


def order(number: int) -> Document:
    data = f"<order n='{number}'><customer>{number % 23}</customer><item>{number % 5}</item></order>"
    return Document(data.encode(), f"S/{number:03d}.xml", "S", 1_700_000_000.0 + number)


DOCUMENTS = [order(number) for number in range(NUMBER)]
#: Long after all others: what waits for late documents, or for a window to close, comes out then.
LAST = Document(b"<end/>", "S/end.xml", "S", 1_700_010_000.0)


def arrive(inbox: Path, documents: list[Document], pause: float = 0.0) -> None:
    """Each file is written elsewhere and moved in as a whole."""
    for each in documents:
        hidden = inbox / f".{Path(each.id).name}"
        hidden.write_bytes(each.data if isinstance(each.data, bytes) else each.data.encode())
        os.utime(hidden, ns=(each.nanoseconds or 0, each.nanoseconds or 0))
        hidden.replace(inbox / each.id)
        time.sleep(pause)


def expected() -> list[tuple[str, tuple[str, ...], str]]:
    broker = Broker()
    for id, query in QUERIES.items():
        broker.subscribe(query, id=id)
    made = broker.publish([*DOCUMENTS, LAST])
    return sorted((each.subscription, each.documents or (each.document,), text) for each in made for text in each.nodes)


@pytest.mark.usefixtures("spark")
def test_joins_of_a_stream_that_is_killed_and_started_again_are_there_once(tmp_path: Path) -> None:
    chance = Random(11)
    kills = [KILLS[at % len(KILLS)] for at in range(MANY)]
    inbox, output, subscriptions = tmp_path / "inbox", tmp_path / "out", tmp_path / "subscriptions.jsonl"
    (inbox / "S").mkdir(parents=True)
    subscriptions.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in QUERIES.items()))
    options: list[object] = ["run", "--stream", "--max-files-per-trigger", AT_ONCE, "--master", "local[2]"]
    options += ["--subscriptions", subscriptions, "--documents", inbox, "--output", output]
    waiting = chance.sample(DOCUMENTS, NUMBER)  # late by less than the default
    arrive(inbox, waiting[:THERE_BEFORE])
    del waiting[:THERE_BEFORE]

    cut_off = kill_again_and_again(options, output, kills, waiting, partial(arrive, inbox, pause=0.05), 3.0, chance)
    arrive(inbox, [*waiting, LAST])
    done = CliRunner().invoke(app, [str(option) for option in (*options, "--available-now")])

    assert done.exit_code == 0, done.stderr
    assert cut_off, "no kill came in the middle of a batch"
    rows = read_results(output)
    found = [(row["subscription"], tuple(row["documents"] or (row["document"],)), row["message"]) for row in rows]
    assert sorted(found) == expected()
