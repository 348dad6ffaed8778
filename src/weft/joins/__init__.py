"""XSCL's second stage: join graphs, their templates, witness relations, and the joins over them."""
