"""The query server: what the views are worth that it chooses, as in figures 7 to 12 of the paper."""
