"""Programs and documents in, what their expressions come to out: queries that are worked out alone."""
