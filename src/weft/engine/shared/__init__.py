"""The plan that all queries share, as tables."""
