"""What the filtering experiment is about, and how good it should be: by key a goal."""

from bench.goals import Goal

_LXML = "{} queries{}: times as fast as a loop over lxml"
_PYGIXML = "{} queries{}: times as fast as a loop over pygixml"
_WITH = " with predicates"
_FEW = "100 queries{}, {}: times as fast as a loop over pygixml"
_SMALL, _LARGE = "news of 4 KB", "health records of 100 KB"

GOALS = {
    "speedup_vs_lxml_1k": Goal(_LXML.format("1,000", ""), least=40),
    "speedup_vs_lxml_10k": Goal(_LXML.format("10,000", ""), least=400),
    "speedup_vs_lxml_100k": Goal(_LXML.format("100,000", ""), least=4_000),
    "growth_1k_to_100k": Goal("time with 100,000 queries over that with 1,000", most=3),
    "us_per_document_100k": Goal("100,000 queries: µs a document"),
    "us_per_document_100k_strings": Goal("100,000 queries: µs a document until every id is a string"),
    "speedup_vs_pygixml_1k_predicates": Goal(_PYGIXML.format("1,000", _WITH), least=10),
    "speedup_vs_lxml_10k_predicates": Goal(_LXML.format("10,000", _WITH), least=250),
    "speedup_vs_lxml_100k_predicates": Goal(_LXML.format("100,000", _WITH), least=350),
    "speedup_vs_pygixml_100_small": Goal(_FEW.format("", _SMALL), least=4),
    "speedup_vs_pygixml_100_large": Goal(_FEW.format("", _LARGE), least=4),
    "speedup_vs_pygixml_100_small_predicates": Goal(_FEW.format(_WITH, _SMALL), least=2),
    "speedup_vs_pygixml_100_large_predicates": Goal(_FEW.format(_WITH, _LARGE), least=2),
    "add_one_ms": Goal("adding one subscription, with the extra cost of the next document, ms", most=1),
    "subscriptions_per_second_loaded": Goal("subscriptions loaded a second, paths only", least=40_000),
    "subscriptions_per_second_loaded_with_predicates": Goal(
        "subscriptions loaded a second, with predicates", least=15_000
    ),
    "rss_mb_100k": Goal("memory of a process with 100,000 paths after matching, MB", most=200),
    "rss_mb_100k_predicates": Goal("the same with predicates, MB", most=400),
}
