"""The command line, nothing but the command line: one module for each command, and what they share."""

from weft.cli.app import app, main

__all__ = ["app", "main"]
