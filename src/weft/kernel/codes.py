"""The numbers that the compiled evaluation knows things by; `codes.pxd` has the same in C.

A test holds them to the enumerations of `weft.engine.shared`, which this room does not know.
"""

#: The kinds of nodes of a shared plan.
NEVER, TEST, NAMED, EXISTS, LIFT, FIRST, LINKED, AND, OR, MEASURE, COMPARED, DOWN = range(12)
#: A LIFT or EXISTS that is retrieved by itself: where it is asked for, it holds where that was noted.
NOTED = 12
#: A value that Python works out.
DERIVED = 13
#: What number a MEASURE is.
COUNT, POSITION, FROM_END = range(3)
#: A node has two records of 64 bytes: one is read where it is asked for, the other where it comes up. Each begins with
#: masks, as words: names needed right below a row, names needed below it and, where it comes up, in the document.
KIDS, BELOW, WHOLE = 0, 2, 4
#: What is behind the masks where a node is asked for, as columns of 32 bits: what a LIFT, FIRST or DOWN leads to, what
#: drives an AND, a LINKED or a MEASURE, the measure of a COMPARED is the child. Instead of checks, a DOWN has a parent,
#: a MEASURE its place among the measures. Instead of the code of a constant, who has an edge has numbers for what is
#: known inside of it, a LINKED and a count the chain, a position the label test; instead of a reading, a MEASURE what
#: it is.
KIND, EDGE, CHILD, CHECK, CHECK_END, OPERATOR, READING, CODE = range(8, 16)
PARENT, INNER, PLACE = 11, 15, 11
#: What is behind the masks where it comes up, as columns of 32 bits: the one result that can come of the node, and 1 (0
#: if there are several); where what it drives begins, and 1; its edge. Then as bytes: its kind, how far up its edge
#: begins (0: that differs), whether it is a result, and whether its test drives a DOWN; of a LIFT whether it is NOTED.
AIM, DRIVEN, WAY = range(12, 15)
FORM, RISE, IS_RESULT, BY_TEST = range(60, 64)
IS_NOTED = 63
#: The columns of an edge's record: how far up it begins (0: that differs), the state there, its steps.
UP, ABOVE, STEP, STEP_END = range(4)
#: The columns of the record of a run: from where to before where its nodes are, without those behind whose constant is
#: not-a-number, and with them; operator and reading.
RUN_START, ORDERED_END, RUN_END, RUN_FORM = range(4)
#: Operators.
EQ, NE, LT, LE, GT, GE, CONTAINS, STARTS, ENDS, MATCHES = range(10)
#: How a value is read; PROBED are tests whose facts come from outside, PART those on a part of a text.
TEXT, NUMBER, DOUBLE, DATE = range(4)
PROBED, PART = 6, 7
#: What is counted by group: how often it was asked for, worked out, and found to hold.
ASKED, WORKED, MET = range(3)
#: What is known of a pair: it does not hold, it holds, it has been told to what it drives.
FALSE, TRUE, RISEN = 1, 2, 4
#: By what means values find tests at a state.
BY_EQUAL, BY_START, BY_END, BY_INSIDE = 1, 2, 4, 8
#: Kinds of nodes of a document.
ELEMENT, ATTRIBUTE = 0, 1
