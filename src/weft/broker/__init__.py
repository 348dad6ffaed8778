"""Subscriptions in, messages out."""
