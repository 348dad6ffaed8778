"""The output of a network that runs in, what its servers have delivered out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from weft.network.passage import Delivered


def read_deliveries(output: Path) -> Iterator[Delivered]:
    """What was delivered, by server and in the order of their batches; batches are there as a whole or not at all."""
    for batch in sorted((output / "deliveries").glob("*/*")):
        for file in sorted(batch.glob("*.parquet")):
            for row in pq.read_table(file, columns=["subscription", "document"]).to_pylist():
                yield Delivered(batch.parent.name, row["subscription"], row["document"])
