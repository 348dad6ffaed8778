"""Separate processes, as on a cluster: executors of their own, and workers that lack what they need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from weft_process import embedded, weft

from weft.delivery.results import read_results

pytestmark = pytest.mark.slow
QUERIES = {"large": "/order[total > 5]/total", "all": "/order/item"}
DOCUMENTS = {f"{at:02d}.xml": f"<order><total>{at}</total><item/></order>".encode() for at in range(24)}


@pytest.fixture
def options(tmp_path: Path) -> list[object]:
    inbox, subscriptions = tmp_path / "inbox", tmp_path / "subscriptions.jsonl"
    inbox.mkdir()
    for name, data in DOCUMENTS.items():
        (inbox / name).write_bytes(data)
    subscriptions.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in QUERIES.items()))
    return ["run", "--subscriptions", subscriptions, "--documents", inbox, "--output", tmp_path / "out"]


def test_two_executors_in_processes_of_their_own_deliver_what_one_process_does(
    tmp_path: Path, options: list[object]
) -> None:
    home = Path(pyspark.__file__).parent
    env = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    env["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    options += ["--master", "local-cluster[2,1,1024]", "--conf", f"spark.executorEnv.PYTHONPATH={env['PYTHONPATH']}"]
    options += ["--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={tmp_path}"]
    options += ["--conf", "spark.eventLog.rolling.enabled=false", "--conf", "spark.eventLog.compress=false"]

    done = weft(*options, env=env)

    assert done.returncode == 0, done.stderr
    rows = [
        (row["document"], row["subscription"], row["position"], row["message"])
        for row in read_results(tmp_path / "out")
    ]
    assert sorted(rows) == embedded(QUERIES, DOCUMENTS)
    (log,) = tmp_path.glob("app-*")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    ran = {event["Task Info"]["Executor ID"] for event in events if event["Event"] == "SparkListenerTaskEnd"}
    assert ran == {"0", "1"}, "both executors had tasks"


def test_a_worker_that_has_no_weft_is_told_in_one_line(tmp_path: Path, options: list[object]) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'weft':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/without:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)

    done = weft(*options, "--master", "local[1]", env={**os.environ, "PYSPARK_PYTHON": str(python)})

    told = done.stderr.strip().splitlines()
    assert done.returncode == 2
    assert told[-1].startswith("weft: a worker of Spark has no module 'weft'"), done.stderr
    assert "--archives" in told[-1]


def test_without_the_extra_the_import_tells_which_one_to_install() -> None:
    program = "import sys; sys.modules['pyspark'] = None\nimport weft.spark"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.stderr.strip().splitlines()[-1] == (
        "ModuleNotFoundError: weft.spark needs pyspark, which is not installed: pip install 'weft[spark]'"
    )
