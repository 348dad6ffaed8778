cdef enum:
    NEVER = 0
    TEST = 1
    NAMED = 2
    EXISTS = 3
    LIFT = 4
    FIRST = 5
    LINKED = 6
    AND = 7
    OR = 8
    RANK = 9
    DOWN = 10

cdef enum:
    KIND = 0
    EDGE = 1
    CHILD = 2
    RESULT = 3
    DEPENDENT = 4
    DEPENDENT_END = 5
    CHECK = 6
    CHECK_END = 7
    PARENT = 8
    OWN_TEST = 9
    BY_TEST = 10
    OPERATOR = 11
    READING = 12
    CODE = 13
    INNER = 14

cdef enum:
    UP = 0
    ABOVE = 1
    STEP = 2
    STEP_END = 3

cdef enum:
    KIDS = 0
    BELOW = 2
    WHOLE = 4
    AIM = 6
    MASK_WORDS = 8

cdef enum:
    EQ = 0
    NE = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5
    CONTAINS = 6
    STARTS = 7
    ENDS = 8
    MATCHES = 9

cdef enum:
    TEXT = 0
    NUMBER = 1
    DOUBLE = 2
    DATE = 3
    PROBED = 6
    PART = 7

cdef enum:
    FALSE = 1
    TRUE = 2
    RISEN = 4

cdef enum:
    BY_EQUAL = 1
    BY_START = 2
    BY_END = 4
    BY_INSIDE = 8

cdef enum:
    ELEMENT = 0
    ATTRIBUTE = 1
