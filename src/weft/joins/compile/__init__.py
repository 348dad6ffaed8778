"""XSCL plans to what the joins look up."""
