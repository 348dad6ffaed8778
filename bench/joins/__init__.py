"""Joins: Weft's second stage for XSCL beside the paper's templates on DuckDB and one query after the other."""
