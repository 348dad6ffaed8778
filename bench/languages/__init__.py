"""Constructs of the languages: which are taken, and what each costs beside the nearest query without it, and Saxon."""
