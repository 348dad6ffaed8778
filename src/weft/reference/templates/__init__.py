"""XSCL by the paper's templates, on DuckDB."""
