"""A set of documents in, how much longer executors in processes of their own take than threads of one out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import median

from bench.news import news_queries
from bench.pipeline.session import Session, load, time_match, unload
from weft.spark.compiled import compile_subscriptions

SUBSCRIPTIONS = 100
_ROUNDS = 3
_MASTER = "local-cluster[2,1,1024]"
_TABLE = "documents"


def measure_cluster(local: Session, folder: Path, warm_up: Path, documents: Path, java: str) -> float:
    """Seconds on two executors of one core over those of one process with two, in turns; medians of some rounds."""
    compiled = compile_subscriptions(news_queries(SUBSCRIPTIONS, predicates=False))
    apart = Session(2, folder, "1g", java, master=_MASTER)
    try:
        for session in (local, apart):
            session.do(partial(load, _TABLE, warm_up))
            for _ in range(2):
                session.do(partial(time_match, compiled, _TABLE))
            session.do(partial(load, _TABLE, documents))
        pairs = [
            tuple(session.do(partial(time_match, compiled, _TABLE)) for session in (apart, local))
            for _ in range(_ROUNDS)
        ]
        local.do(partial(unload, _TABLE))
    finally:
        apart.close()
    return median(cluster / one for cluster, one in pairs)
