"""Matches to messages."""
