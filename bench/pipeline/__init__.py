"""Pipeline: Weft on Spark beside Spark's own xpath, what Spark costs, what a second core brings, and a stream."""
