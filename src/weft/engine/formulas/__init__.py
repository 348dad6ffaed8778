"""Formulas over node tables: what is worked out node by node, once for all that compare it."""
