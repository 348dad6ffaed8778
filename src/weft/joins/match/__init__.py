"""Documents to matches."""
