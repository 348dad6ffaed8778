"""Edges of the shared plan and nodes of a batch in, the nodes at their other ends out."""

class TooMuchError(Exception):
    """A batch would take more steps than it was given; who asked does it in another way."""
