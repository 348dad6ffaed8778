"""The numbers that the compiled evaluation knows things by; `codes.pxd` has the same in C.

A test holds them to the enumerations of `weft.engine.shared`, which this room does not know.
"""

#: The kinds of nodes of a shared plan.
NEVER, TEST, NAMED, EXISTS, LIFT, FIRST, LINKED, AND, OR, RANK, DOWN = range(11)
#: The columns of a node's record: what a LIFT or FIRST leads to, what drives an AND, what a RANK counts is the child.
KIND, EDGE, CHILD, RESULT, DEPENDENT, DEPENDENT_END, CHECK, CHECK_END = range(8)
PARENT, OWN_TEST, BY_TEST, OPERATOR, READING, CODE, INNER = range(8, 15)
#: The columns of an edge's record: how far up it begins (0: that differs), the state there, its steps.
UP, ABOVE, STEP, STEP_END = range(4)
#: The words of a node's masks: names needed right below, names needed below, names needed in the document; behind them
#: the one result that can come of the node, and 1; 0 if there are several.
KIDS, BELOW, WHOLE, AIM, MASK_WORDS = 0, 2, 4, 6, 8
#: Operators.
EQ, NE, LT, LE, GT, GE, CONTAINS, STARTS, ENDS, MATCHES = range(10)
#: How a value is read; PROBED are tests whose facts come from outside, PART those on a part of a text.
TEXT, NUMBER, DOUBLE, DATE = range(4)
PROBED, PART = 6, 7
#: What is known of a pair: it does not hold, it holds, it has been told to what it drives.
FALSE, TRUE, RISEN = 1, 2, 4
#: By what means values find tests at a state.
BY_EQUAL, BY_START, BY_END, BY_INSIDE = 1, 2, 4, 8
#: Kinds of nodes of a document.
ELEMENT, ATTRIBUTE = 0, 1
