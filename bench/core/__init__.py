"""Core: what the parts of matching cost: the scan, its stages, batches, threads, changes, skew and memory."""
