"""A batch in, how often its evaluation looks at what out: for whoever asks, and at the cost of one question else."""

import cython
import numpy as np

from weft.kernel.arrays import held, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.values import NodeValues


@cython.cclass
class Counting(NodeValues):
    """What is counted of a batch; `counting.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        NodeValues.__init__(self, plan, lists)
        self.stop()

    def count(self, group) -> None:
        """Count from now on what is looked at; `group` is by node that of a part, 0 for all others."""
        self.group, self.came = held(group), zeros(len(group), np.int32)
        self.counts = held(np.zeros((int(np.max(group, initial=0)) + 1, 3), np.int64))
        self.is_counting = True

    def counted(self) -> tuple:
        """(by node how often it came up; by group how often it was asked for, worked out, and found to hold)."""
        return np.array(self.came), np.array(self.counts)

    def stop(self) -> None:
        """Count no more, and keep nothing."""
        self.is_counting = False
        self.group, self.came = zeros(1, np.int32), zeros(1, np.int32)
        self.counts = held(np.zeros((1, 3), np.int64))
