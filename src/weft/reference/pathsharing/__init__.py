"""FLWR queries, each by its own plan of the paper's operators."""
