"""Rows on a heap, and steps that are counted."""

class TooMuchError(Exception):
    """A batch would take more steps than it was given; who asked does it in another way."""
