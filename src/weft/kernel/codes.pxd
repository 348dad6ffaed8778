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
    MEASURE = 9
    COMPARED = 10
    DOWN = 11

cdef enum:
    NOTED = 12
    DERIVED = 13

cdef enum:
    COUNT = 0
    POSITION = 1
    FROM_END = 2

cdef enum:
    KIDS = 0
    BELOW = 2
    WHOLE = 4

cdef enum:
    KIND = 8
    EDGE = 9
    CHILD = 10
    CHECK = 11
    CHECK_END = 12
    OPERATOR = 13
    READING = 14
    CODE = 15

cdef enum:
    PARENT = 11
    INNER = 15
    PLACE = 11

cdef enum:
    AIM = 12
    DRIVEN = 13
    WAY = 14

cdef enum:
    FORM = 60
    RISE = 61
    IS_RESULT = 62
    BY_TEST = 63

cdef enum:
    IS_NOTED = 63

cdef enum:
    UP = 0
    ABOVE = 1
    STEP = 2
    STEP_END = 3

cdef enum:
    RUN_START = 0
    ORDERED_END = 1
    RUN_END = 2
    RUN_FORM = 3

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
    ASKED = 0
    WORKED = 1
    MET = 2

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
