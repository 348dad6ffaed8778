# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""A shared plan as columns, for the compiled evaluation; `plan_tables.pxd` tells what each is."""

import cython

from weft.kernel.arrays import held


@cython.cclass
class PlanTables:
    """The nodes and edges of a shared plan; never changed."""

    def __init__(self, columns: dict):
        self.kind = held(columns["kind"])
        self.state = held(columns["state"])
        self.edge = held(columns["edge"])
        self.child = held(columns["child"])
        self.result = held(columns["result"])
        self.dependent_start = held(columns["dependent_start"])
        self.dependents = held(columns["dependents"])
        self.check_start = held(columns["check_start"])
        self.checks = held(columns["checks"])
        self.is_negated = held(columns["is_negated"])
        self.parent = held(columns["parent"])
        self.test = held(columns["test"])
        self.by_test = held(columns["by_test"])
        self.operator = held(columns["operator"])
        self.reading = held(columns["reading"])
        self.code = held(columns["code"])
        self.number = held(columns["number"])
        self.is_last = held(columns["is_last"])
        self.is_count = held(columns["is_count"])
        self.chain_start = held(columns["chain_start"])
        self.chain_edges = held(columns["chain_edges"])
        self.chain_nodes = held(columns["chain_nodes"])
        self.symbol = held(columns["symbol"])
        self.edge_up, self.edge_above = held(columns["edge_up"]), held(columns["edge_above"])
        self.step_start = held(columns["step_start"])
        self.steps = held(columns["steps"])
