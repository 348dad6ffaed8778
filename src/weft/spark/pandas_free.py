"""Workers of Spark without pandas, where the job needs none: pyarrow loads it with the first array, for nothing.

Only where the environment says so: in workers that others use as well, pyarrow must know pandas.
"""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder

import pyarrow as pa

#: A setting of Spark that tells its workers.
WITHOUT_PANDAS = {"spark.executorEnv.WEFT_WITHOUT_PANDAS": "1"}


def hide_pandas() -> None:
    """Have pyarrow look for pandas in vain, once and for all; who imports pandas gets it as ever."""
    if "WEFT_WITHOUT_PANDAS" not in os.environ or "pandas" in sys.modules:
        return
    refusal = _Refusal()
    sys.meta_path.insert(0, refusal)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(refusal)


class _Refusal(MetaPathFinder):
    """There is no pandas."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        """Raise for pandas what is raised where it is not installed."""
        if fullname == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
