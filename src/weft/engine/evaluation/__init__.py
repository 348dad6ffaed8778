"""A batch against the shared plan."""
