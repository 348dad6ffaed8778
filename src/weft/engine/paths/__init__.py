"""All paths in one automaton, run lazily over label paths."""
