"""The texts that stand for values."""

import pytest

from weft.workload import value_text


@pytest.mark.parametrize("words", [1, 2, 4, 12])
def test_a_text_has_so_many_words_and_ends_with_its_number(words: int) -> None:
    texts = [value_text(value, words).split() for value in range(300)]
    assert {len(text) for text in texts} == {words}
    assert [text[-1] for text in texts] == [str(value) for value in range(300)]


def test_different_values_have_different_texts() -> None:
    assert len({value_text(value, 4) for value in range(5000)}) == 5000


def test_a_text_needs_no_escaping() -> None:
    assert all(set(value_text(value, 9)).isdisjoint("<>&\"'") for value in range(300))
