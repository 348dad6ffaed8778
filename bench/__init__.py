"""The experiments, a folder each: `python -m bench NAME` runs one, and gives its tables, its figures and its plot.

An experiment has its name in EXPERIMENTS and, in the module `experiment` of its folder, a function
`run(quick: bool, progress: Progress) -> Report`. It measures, and the command line does the rest.
"""

EXPERIMENTS = (
    "filtering",
    "core",
    "brokering",
    "pipeline",
    "joins",
    "stream_views",
    "materialized_views",
    "in_or_out",
    "languages",
)
