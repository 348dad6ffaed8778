"""What retrieving patterns costs in an automaton with a stack, as the paper on plans in and out of it counts."""
