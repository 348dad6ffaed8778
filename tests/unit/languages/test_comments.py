"""Comments `(: … :)` are white space, in every language and wherever tokens are."""

import pytest

from weft.languages import parse, recognize

SAME = {
    "(: all :) //a (: b :) / (: c :) b": "//a/b",
    "//a(: text( :)[b(::)= (: 'x' :) 'y']": "//a[b = 'y']",
    "//a[contains(: (: in :) :)(b, 'x')]": "//a[contains(b, 'x')]",
    "//a (: nested (: comment :) with ' and \" :)": "//a",
    "//a[b = '(: no comment :)']": '//a[b = "(: no comment :)"]',
    "(: SELECT AS -> :) //a": "//a",
    "<r>{ (: c :) for (: d :) $a in //a (: e :) return $a (: f :) }</r>": "<r>{ for $a in //a return $a }</r>",
    "S//a[b (: ->c :)]->v JOIN{v = w, 1 day} (: d :) S//b->w": "S//a[b]->v JOIN{v = w, 1 day} S//b->w",
}


@pytest.mark.parametrize("query", SAME)
def test_a_query_with_comments_has_the_plan_of_the_query_without(query: str) -> None:
    assert recognize(query) == recognize(SAME[query])
    assert parse(query) == parse(SAME[query])


def test_what_looks_like_a_comment_in_an_element_is_text() -> None:
    plan = parse("(: c :) <r>{ for $a in //a return <i>(: text :)</i> }</r>")

    assert "(: text :)" in str(plan)
