"""Materialized views on disk: Parquet tables of nodes, and the manifest that says which of them are there."""
