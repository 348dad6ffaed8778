"""The experiments, one module each: `python -m bench NAME` runs one, and gives its tables, its figures and its plot.

An experiment is a module of this package that has its name in EXPERIMENTS and a function
`run(quick: bool, progress: Progress) -> Report`. It measures, and the command line does the rest.
"""

EXPERIMENTS = ("filtering", "brokering", "pipeline", "joins")
