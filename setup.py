"""The compiled scan; all else is in pyproject.toml. Without a C compiler Weft is slower, and otherwise the same."""

from setuptools import Extension, setup

setup(ext_modules=[Extension("weft.documents.plain", ["src/weft/documents/plain.c"], optional=True)])
