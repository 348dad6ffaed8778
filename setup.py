"""What is compiled; all else is in pyproject.toml. Without a C compiler Weft is slower, and otherwise the same."""

from setuptools import Extension, setup

COMPILED = ("documents/plain", "automaton/walk")

setup(
    ext_modules=[
        Extension(f"weft.{name.replace('/', '.')}", [f"src/weft/{name}.c"], optional=True) for name in COMPILED
    ]
)
