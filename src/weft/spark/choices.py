"""What workers have counted in, how they retrieve the parts of conditions in the next micro-batch out.

Statistics come back by an accumulator, which is Spark's way from workers to the driver; the driver chooses between two
micro-batches, and the choice goes out in the closure of the next plan. A count that comes twice, or not at all, because
a task was run again, makes a choice a little better or worse, and changes no answer.
"""

from __future__ import annotations

import pickle
from dataclasses import replace

from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from weft.documents.build import read
from weft.documents.document import Document
from weft.engine.engine import Engine
from weft.engine.statistics import CountedElsewhere
from weft.optimizer.adapting import Adapting
from weft.spark.compiled import AccessOfBatch, Compiled, WorkerPlans

ToldCounts = list[tuple[str, CountedElsewhere]]  # each with the digest of the plan that it is of


class _OneBehindTheOther(AccumulatorParam[ToldCounts]):
    """ToldCounts one behind the other."""

    def zero(self, value: ToldCounts) -> ToldCounts:
        """None."""
        return value[:0]

    def addInPlace(self, value1: ToldCounts, value2: ToldCounts) -> ToldCounts:
        """Both."""
        value1.extend(value2)
        return value1


class Choices:
    """The choices for the micro-batches of one stream."""

    def __init__(self, spark: SparkSession) -> None:
        self._counts: Accumulator[ToldCounts] = spark.sparkContext.accumulator([], _OneBehindTheOther())
        self._digest: str | None = None
        self._engine: Engine | None = None
        self._adapting: Adapting | None = None

    @property
    def changes(self) -> int:
        """How often another access was chosen for the plan that runs."""
        return 0 if self._adapting is None else self._adapting.changes

    def before_batch(self, compiled: Compiled) -> Compiled:
        """The same plans as they are to be retrieved in the next micro-batch; if choosing fails, as they are."""
        try:
            return self._chosen(compiled)
        except Exception:
            self._digest = None
            return compiled

    def _chosen(self, compiled: Compiled) -> Compiled:
        if compiled.digest != self._digest:
            self._begin(compiled)
        counts, self._counts.value = self._counts.value, []
        if self._engine is None or self._adapting is None:
            return compiled
        statistics = self._engine.large.statistics
        assert statistics is not None, "what is chosen for is counted"
        for digest, counted in counts:
            if digest == self._digest:
                statistics.merge(counted)
        while self._adapting.is_due(self._engine):
            self._adapting.keep_up(self._engine)
        self._engine.settle()
        choice = AccessOfBatch(self._adapting.changes, self._engine.large.access, self._counts)
        return replace(compiled, choice=choice)

    def _begin(self, compiled: Compiled) -> None:
        """Another plan: nothing is known of it."""
        plans: WorkerPlans = pickle.loads(compiled.payload)
        self._digest, self._engine, self._adapting = compiled.digest, None, plans.adapting
        if plans.adapting is not None and len(plans.engine):
            self._engine = plans.engine
            self._engine.match(read([Document("<none/>")]), whether=True)  # its arrays are made
