"""What the paper measured: its tables, in milliseconds on a Pentium III of 800 MHz, and streams of about 52 MB."""

#: Table 3, by stream and patterns: for each search its plans, its time and its plan's, and the initial plan's time.
TABLE_3: dict[tuple[int, int], tuple[tuple[int, int, int] | None, tuple[int, int, int], tuple[int, int, int], int]] = {
    (1, 5): ((32, 592, 1_543), (9, 232, 1_543), (1, 64, 1_543), 1_821),
    (1, 10): ((1_024, 15_921, 5_439), (27, 475, 5_439), (3, 106, 5_439), 6_349),
    (1, 20): (None, (144, 2_271, 9_402), (10, 242, 9_402), 12_468),
    (2, 5): ((32, 508, 3_987), (15, 381, 3_987), (10, 142, 3_987), 5_340),
    (2, 10): ((1_024, 14_982, 9_283), (54, 823, 9_283), (36, 294, 9_283), 14_611),
    (2, 20): (None, (204, 3_126, 22_271), (136, 1_053, 22_271), 36_841),
}
#: Table 5, by stream: GreedyBasic, FastPrune, the initial plan.
TABLE_5: dict[int, tuple[tuple[int, int, int], tuple[int, int, int], int]] = {
    1: ((57, 852, 23_088), (52, 779, 23_088), 30_072),
    2: ((59, 825, 22_209), (50, 776, 22_209), 38_690),
    3: ((76, 1_118, 21_924), (28, 615, 21_924), 25_828),
    4: ((37, 545, 18_590), (19, 423, 18_590), 42_301),
}
#: Table 6, by levels: MinExhaust, GreedyBasic, the initial plan. The initial plan is not among the plans explored.
TABLE_6: dict[int, tuple[tuple[int, int, int], tuple[int, int, int], int]] = {
    3: ((147, 2_296, 7_356), (10, 205, 8_059), 9_122),
    4: ((595, 8_674, 10_086), (14, 364, 11_202), 13_569),
    5: ((2_387, 38_500, 12_176), (17, 487, 12_176), 17_045),
    6: ((9_555, 180_078, 13_408), (20, 647, 14_280), 20_055),
}
