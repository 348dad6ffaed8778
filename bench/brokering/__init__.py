"""Brokering: time until all FLWR queries have their groups, after the figures of the paper, and beside Saxon."""
