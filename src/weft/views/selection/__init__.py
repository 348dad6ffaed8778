"""Which views are worth their space: workload in, parts and a choice among them out."""
