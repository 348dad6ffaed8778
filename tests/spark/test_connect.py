"""Spark Connect, where there is no JVM in the process: batch and streaming give the messages of the embedded broker."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from weft_process import embedded

pytestmark = pytest.mark.slow
QUERIES = {
    "1": "/order[total > 30]/customer",
    "2": "//item/@name",
    "3": "<totals>{ for $o in /order where $o/total < 40 return $o/total }</totals>",
}

JOINS = [
    "S//o[c->x] FOLLOWED BY{x = y, infinite} S//o[c->y]",
    "S//o[c->x] NOT FOLLOWED BY{x = y, infinite} S//o[c->y]",
]


def order(number: int) -> bytes:
    items = "".join(f"<item name='{number}-{at}'/>" for at in range(number % 3))
    return f"<order><total>{number}</total><customer n='{number}'/>{items}</order>".encode()


DOCUMENTS = {f"{number:02d}.xml": order(number) for number in range(60)}
SCRIPT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql.connect.dataframe import DataFrame
from weft.spark import WeftSource, deliver, join, match, messages, rejected

inbox, folder, (queries, joins) = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
spark = SparkSession.builder.remote("local[2]").getOrCreate()
spark.dataSource.register(WeftSource)

def rows(frame):
    wanted = messages(frame).select("document", "subscription", "position", "message")
    return sorted(map(list, wanted.collect()))

documents = [(file.name, file.read_bytes()) for file in inbox.glob("*.xml")]
frame = spark.createDataFrame(documents, "document string, value binary")
assert isinstance(frame, DataFrame)
out = frame.transform(deliver(queries))
stream = spark.readStream.format("weft").option("maxFilesPerTrigger", 25).load(str(inbox)).transform(deliver(queries))
matched = spark.readStream.format("weft").load(str(inbox)).transform(match(queries))

def run(frame, name):
    writer = frame.writeStream.format("parquet").option("checkpointLocation", f"{folder}/{name}-checkpoint")
    assert writer.trigger(availableNow=True).start(f"{folder}/{name}").awaitTermination(240)
    return spark.read.parquet(f"{folder}/{name}")

numbered = [(n, "S", float(n), f"<o><c>{n % 3}</c></o>") for n in range(9)]
joined = spark.createDataFrame(numbered, "document int, stream string, timestamp double, value string")
found = {
    "joined": sorted([row.subscription, row.documents] for row in joined.transform(join(joins)).collect()),
    "batch": rows(out),
    "rejected": [row.document for row in rejected(out).collect()],
    "matches": {row.document: row.matches for row in frame.transform(match(queries)).collect()},
    "stream": rows(run(stream, "messages")),
    "stream matches": {row.document: row.matches for row in run(matched, "matches").collect()},
}
print(json.dumps(found))
spark.stop()
"""


def test_spark_connect_gives_the_messages_of_the_broker_and_joins(tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for name, data in {**DOCUMENTS, "broken.xml": b"<order>"}.items():
        (inbox / name).write_bytes(data)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    env["SPARK_SUBMIT_OPTS"] = os.environ["SPARK_SUBMIT_OPTS"]  # how quickly Java starts, nothing else
    env |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    arguments = [str(inbox), str(tmp_path), json.dumps([list(QUERIES.values()), JOINS])]

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=300, check=False, env=env
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    rows = embedded(QUERIES, DOCUMENTS)
    assert found["batch"] == found["stream"] == [list(row) for row in rows]
    assert found["rejected"] == ["broken.xml"]
    matches = {name: sorted({row[1] for row in rows if row[0] == name}) for name in DOCUMENTS}
    assert found["matches"] == found["stream matches"] == {**matches, "broken.xml": None}
    pairs = [["1", [str(at), str(at + gap)]] for at in range(9) for gap in (3, 6) if at + gap < 9]
    assert found["joined"] == sorted([*pairs, *(["2", [str(at)]] for at in (6, 7, 8))])
