"""Fuzzers: inputs are mutated without end, and whatever comes of them must be what an oracle says, in time and memory.

`python -m fuzz`, with `tests` on the path, runs them; `make fuzz` does.
"""
