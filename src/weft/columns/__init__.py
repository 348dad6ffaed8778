"""Columns of integers, and what numpy leaves to its users."""
