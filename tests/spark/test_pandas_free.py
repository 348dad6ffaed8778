"""Workers without pandas: what Spark and Weft need in them does not load it, and a worker can still have it."""

import json
import os
import subprocess
import sys

import pytest

CODE = """
import json, sys
import pyarrow as pa
import weft.spark
from weft.spark import worker, source, joins_worker
pa.array([1, 2])
pa.RecordBatch.from_pylist([{"a": 1}])
found = "pandas" in sys.modules
import pandas
print(json.dumps([found, len(pandas.DataFrame({"a": [1]}))]))
"""


@pytest.mark.parametrize("is_hidden", [True, False])
def test_a_worker_loads_pandas_only_where_others_may_use_it(is_hidden: bool) -> None:
    environment = {**os.environ, **({"WEFT_WITHOUT_PANDAS": "1"} if is_hidden else {})}

    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, check=True)

    assert json.loads(done.stdout) == [not is_hidden, 1]
