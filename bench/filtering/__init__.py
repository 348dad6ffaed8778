"""Filtering: time per document against the number of queries, beside loops of lxml and pygixml over all queries."""
