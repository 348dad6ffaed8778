"""The query server as a whole: sources, views, updates, and what goes wrong with them."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from query_servers import choosing, queries, server_over
from weft.errors import ConfigurationError
from weft.views.server import QueryServer
from weft.views.sources.local import FileSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.running import serving
from weft.views.sources.source import SourceError
from weft.views.workload import WorkloadError

SHOP = "<shop><item><name>A</name><price>5</price></item><item><name>B</name><price>15</price></item></shop>"


def test_an_answer_comes_from_the_view_that_has_it(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})

    before, _, after = server.query("//name"), server.materialize("/shop/item"), server.query("/shop/item/name")

    assert before.fragments() == after.fragments() == ["<name>A</name>", "<name>B</name>"]
    assert "from the source" in before.explain()
    assert "from views" in after.explain()


def test_sources_answer_in_the_order_in_which_they_were_added(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"z.xml": "<z><a>1</a></z>", "b.xml": "<b><a>2</a></b>", "c.xml": "<c><a>3</a></c>"})
    server.materialize("/b/a")

    assert server.query("//a").fragments() == ["<a>1</a>", "<a>2</a>", "<a>3</a>"]
    assert server.query("/z/a | /c/a").fragments() == ["<a>1</a>", "<a>3</a>"]


@pytest.mark.parametrize("query", ["//@x", "//text()", "/s/a/@*", "//a[@x]/text() | //b", "//a | //a/@x | //a/text()"])
def test_attributes_and_texts_are_answers_too(tmp_path: Path, query: str) -> None:
    server = server_over(tmp_path, {"s.xml": '<s><a x="1">one<b/>two</a><a x="2" y="3"/>three</s>'})
    expected = server.query(query).rows

    server.materialize(query)
    found = server.query(query)

    assert "from views" in found.explain()
    assert found.rows.to_pylist() == expected.to_pylist()
    assert expected.num_rows > 1


def test_a_source_without_anything_inside_is_answered(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": "<s/>", "t.xml": "<t><a/></t>"})

    recommended = server.recommend(queries("/s/a", "//nothing"), 1e6)
    server.materialize(recommended)
    server.materialize("//a")

    assert recommended.problem.candidates == ()
    assert server.query("//a").fragments() == ["<a/>"]
    assert server.query("/s").fragments() == ["<s/>"]


def test_a_source_that_was_given_a_name_is_asked_whatever_root_a_query_begins_with(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    (folder / "1.xml").write_text("<order><a>1</a></order>")
    (folder / "2.xml").write_text("<bill><a>2</a></bill>")
    server = QueryServer(tmp_path / "store")
    with pytest.raises(SourceError, match="expected documents with one root element"):
        server.add_source(folder)
    server.add_source(folder, "papers")

    assert server.query("/order/a").fragments() == ["<a>1</a>"]
    server.materialize(server.recommend(queries("/bill/a"), 1e6))
    assert server.query("/bill/a").fragments() == ["<a>2</a>"]
    assert "from views" in server.query("/bill/a").explain()


@pytest.mark.slow
def test_a_source_that_is_served_under_a_name_is_asked_whatever_root_a_query_begins_with(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_text(SHOP)
    server = QueryServer(tmp_path / "store")
    with (
        serving(FileSource(tmp_path / "shop.xml", "market")) as named,
        serving(FileSource(tmp_path / "shop.xml")) as root,
    ):
        assert server.add_source(named).root is None
        assert server.add_source(root).root == "shop"
        assert server.query("/shop/item/name").rows["source"].to_pylist() == ["market", "market", "shop", "shop"]


def test_views_with_the_same_prefix_for_two_namespaces_are_kept_apart(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": "<s xmlns:p='urn:1' xmlns:q='urn:2'><p:a>1</p:a><q:a>2</q:a></s>"})

    server.materialize("//n:a", {"n": "urn:1"})
    server.materialize("//n:a", {"n": "urn:2"})

    assert len(server.views()) == 2
    assert "1</p:a>" in server.query("//x:a", {"x": "urn:1"}).fragments()[0]
    assert "2</q:a>" in server.query("/s/n:a", {"n": "urn:2"}).fragments()[0]
    assert server.query("//m:a | //n:a", {"m": "urn:2", "n": "urn:1"}).rows.num_rows == 2


def test_of_two_views_with_equal_answers_one_stays_when_the_other_is_dropped(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    server.materialize("/shop/item/name")
    server.materialize("//name")
    first, second = server.views()

    server.drop(first.name)

    assert [view.name for view in server.views()] == [second.name]
    assert "from views" in server.query("//name").explain()
    assert server.query("/shop/item/name").rows.num_rows == 2
    with pytest.raises(ConfigurationError, match=f"expected one of {second.name}, found '{first.name}'"):
        server.drop(first.name)


def test_a_query_beside_others_leaves_what_is_stored_of_them(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    found = server.recommend(queries("/shop/item | //price", "//price"), 1e6)
    server.materialize(choosing(found, [0]))

    server.materialize("//item[name = 'A']")

    assert all(view.requires for view in server.views())
    assert "1 of 2 parts" not in server.query("/shop/item | //price").explain()
    assert server.query("/shop/item").rows.num_rows == 2


def test_a_removed_source_is_forgotten_at_the_next_refresh(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s><name>C</name></s>"})
    server.materialize("//name")
    server.registry.remove("s")

    assert server.query("//name").fragments() == ["<name>A</name>", "<name>B</name>"]
    refreshed = server.refresh()["s"]
    assert not isinstance(refreshed, SourceError)
    assert refreshed.vanished == ("s.xml",)
    assert [source.name for source in server.store.manifest().sources] == ["shop"]
    assert "from views" in server.query("//name").explain()


def test_files_that_are_damaged_hold_up_the_refresh_of_their_source_alone(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s><name>C</name></s>"})
    server.materialize("//name")
    regions = server.store.folder / "files" / server.store.manifest().source_of["s"].regions.name
    regions.write_bytes(b"no regions")
    (tmp_path / "shop.xml").write_text(SHOP.replace("A", "Z"))

    found = QueryServer(server.folder).refresh()

    assert isinstance(found["s"], SourceError)
    assert f"{regions.name}: damaged" in str(found["s"])
    assert not isinstance(found["shop"], SourceError)
    assert server.query("/shop//name").fragments() == ["<name>Z</name>", "<name>B</name>"]


def damage(server: QueryServer, source: str, kind: str) -> None:
    """Spoil the files of a source in the store: of its documents, or of its parts."""
    manifest = server.store.manifest()
    names = [manifest.source_of[source].documents.name]
    if kind == "parts":
        names = [file.name for part in manifest.parts if part.source == source for file in part.files or ()]
    for name in names:
        file = server.folder / "files" / name
        content = file.read_bytes()
        file.write_bytes(content[:50] + b"?" + content[51:])


@pytest.mark.parametrize("kind", ["documents", "parts"])
def test_where_views_are_damaged_the_source_is_asked_and_it_is_told(tmp_path: Path, kind: str) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s><name>C</name></s>"})
    server.materialize("//name")
    damage(server, "shop", kind)

    for fresh in (False, True):
        answer = QueryServer(server.folder).query("//name", fresh=fresh)

        assert answer.fragments() == ["<name>A</name>", "<name>B</name>", "<name>C</name>"]
        assert answer.is_whole
        assert [error.source for error in answer.damaged] == ["shop"]
        assert "damaged: its checksum does not fit" in answer.damaged[0].reason
        assert [way.told.partition(":")[0] for way in answer.ways] == ["from the source", "from views"]


def test_with_damaged_views_and_the_source_down_nothing_of_it_is_answered(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s><name>C</name></s>"})
    server.materialize("//name")
    damage(server, "shop", "documents")
    (tmp_path / "shop.xml").unlink()

    answer = QueryServer(server.folder).query("//name")

    assert answer.fragments() == ["<name>C</name>"]
    assert not answer.is_whole
    assert [error.source for error in (*answer.damaged, *answer.missing)] == ["shop", "shop"]


def test_a_query_of_which_a_damaged_part_is_stored_is_asked_of_the_source(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    found = server.recommend(queries("//name", "/shop/item[2]/name"), 1e9)
    server.materialize(choosing(found, [0]))
    assert "parts of" in server.query("//name").explain()
    damage(server, "shop", "parts")

    answer = QueryServer(server.folder).query("//name")

    assert answer.fragments() == ["<name>A</name>", "<name>B</name>"]
    assert answer.ways[0].told == "from the source"
    assert len(answer.damaged) == 1


def test_a_removed_source_whose_files_are_damaged_is_forgotten_too(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s><name>C</name></s>"})
    server.materialize("//name")
    damage(server, "s", "documents")
    server.registry.remove("s")

    assert not isinstance(QueryServer(server.folder).refresh()["s"], SourceError)
    assert [source.name for source in server.store.manifest().sources] == ["shop"]


def test_views_of_a_source_are_not_those_of_another_that_has_its_name_now(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    server.materialize("//name")
    server.registry.remove("shop")
    (tmp_path / "other.xml").write_text("<shop><name>Z</name></shop>")
    server.add_source(tmp_path / "other.xml")

    assert server.query("//name").fragments() == ["<name>Z</name>"]
    server.refresh()
    assert server.query("//name").fragments() == ["<name>Z</name>"]
    assert "from views" in server.query("//name").explain()


def test_a_source_that_changes_between_two_questions_is_asked_when_that_is_wanted(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    server.materialize("//name")
    (tmp_path / "shop.xml").write_text("<shop><name>new</name></shop>")

    assert server.query("//name").rows.num_rows == 2
    assert server.query("//name", fresh=True).fragments() == ["<name>new</name>"]


def test_with_a_source_down_its_views_are_no_fresh_answer(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s><name>C</name></s>"})
    server.materialize("//name")
    (tmp_path / "shop.xml").unlink()

    stored, fresh = server.query("//name"), server.query("//name", fresh=True)

    assert stored.is_whole
    assert stored.rows.num_rows == 3
    assert not fresh.is_whole
    assert [error.source for error in fresh.missing] == ["shop"]
    assert fresh.fragments() == ["<name>C</name>"]


def test_a_document_that_cannot_be_read_is_told_by_views_as_by_sources(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "1.xml").write_text("<s><a>1</a></s>")
    (folder / "2.xml").write_text("<s><a>2</s>")
    server = QueryServer(tmp_path / "store")
    server.add_source(folder, "s")

    from_source, _, from_view = server.query("//a"), server.materialize("//a"), server.query("//a")

    assert "from views" in from_view.explain()
    assert from_source.fragments() == from_view.fragments() == ["<a>1</a>"]
    assert [str(error) for error in from_source.rejected] == [str(error) for error in from_view.rejected]
    assert not from_view.is_whole


@pytest.mark.slow
def test_what_is_recommended_keeps_to_the_budget(tmp_path: Path) -> None:
    documents = {f"s{at}.xml": f"<s{at}>{'<a>' + 'x' * 50 + str(at) + '</a>'}</s{at}>" for at in range(5)}
    server = server_over(tmp_path, documents)
    workload = queries(*(f"/s{at}/a" for at in range(5)))

    budgets = (0, 1, 5_500, 8_000, 12_000, 10**6, inf)
    sizes = {budget: server.materialize(server.recommend(workload, budget)).size for budget in budgets}

    assert all(size <= budget for budget, size in sizes.items())
    assert sizes[0] == 0 < sizes[12_000] < sizes[10**6] == sizes[inf]


def test_adapting_follows_what_is_asked_and_fetches_nothing_twice(tmp_path: Path) -> None:
    slow = Rates(Rate(1e3), Rate(1e3), Rate(1.0))
    server = QueryServer(tmp_path / "store", clock=lambda: 1_000.0)
    (tmp_path / "shop.xml").write_text(SHOP)
    server.add_source(tmp_path / "shop.xml", rates=slow)
    for _ in range(50):
        server.query("/shop/item")

    first, second = server.adapt(1e6), server.adapt(1e6)
    number = server.store.manifest().number
    server.query("/shop/item[price > 10]/name")
    third = server.adapt(1e6)

    assert len(first.choice.keys) == 1
    assert first.choice.keys == second.choice.keys
    assert server.store.manifest().number == number, "what is new is inside what is stored"
    assert len(third.choice.keys) >= 1
    assert "from views" in server.query("/shop/item").explain()


def test_adapting_lets_go_of_what_nobody_asks_for(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    server.materialize("//price")
    for _ in range(50):
        server.query("//name")

    server.adapt(1e6)

    assert not any("price" in view.text for view in server.views())


def test_adapting_without_queries_is_refused(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})

    with pytest.raises(ConfigurationError, match="expected queries that were asked before, found none"):
        server.adapt(1e6)


def test_what_is_asked_is_remembered_by_the_next_server(tmp_path: Path) -> None:
    with server_over(tmp_path, {"shop.xml": SHOP}) as server:
        server.query("//name")
        server.query("//price", record=False)

    with QueryServer(tmp_path / "store", clock=lambda: 1_000.0) as again:
        assert [query.text for query in again.adapt(1e6).workload.queries] == ["//name"]
        assert again.registry.entry("shop").observed.rates().processing is not None


def test_a_workload_without_queries_or_for_no_source_is_refused(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    (tmp_path / "empty.txt").write_text("# nothing\n")
    (tmp_path / "bad.txt").write_text("/shop/item (0.1)\n/shop/[ (0.2)\nx (-1)\n")

    with pytest.raises(ConfigurationError, match="expected queries, found none"):
        server.recommend(tmp_path / "empty.txt", 1e6)
    with pytest.raises(ConfigurationError, match="expected a source that the queries are for, found shop"):
        server.recommend(queries("/bank/a"), 1e6)
    with pytest.raises(WorkloadError, match=r"bad\.txt:2: "):
        server.recommend(tmp_path / "bad.txt", 1e6)


NAMES = {"shop.xml": SHOP, "s.xml": "<s><name>C</name><b/></s>", "t.xml": "<t><name>D</name></t>"}


def test_with_a_source_down_the_others_are_adapted_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    server = server_over(tmp_path, NAMES, rates=Rates(Rate(1e3), Rate(1e3), Rate(1.0)))
    server.materialize("//name")
    for _ in range(50):
        server.query("//b | //price")
    before = server.store.manifest()
    (tmp_path / "shop.xml").rename(tmp_path / "away")

    adapted = server.adapt(1e6)
    during = server.query("//name"), server.query("//b | //price")
    again = server.adapt(1e6)
    (tmp_path / "away").rename(tmp_path / "shop.xml")
    after = server.query("//b | //price"), server.query("//name")

    assert [str(error) for error in adapted.missing] == ["shop: No such file or directory"]
    assert adapted.missing[0].source == again.missing[0].source
    assert server.store.manifest().source_of["shop"] == before.source_of["shop"]
    assert [error.source for each in during for error in each.missing] == ["shop"], "only what is not stored is missing"
    assert "shop: from views" in during[0].explain()
    assert during[0].fragments() == [f"<name>{name}</name>" for name in "ABCD"]
    assert "s: from views" in during[1].explain()
    assert after[0].fragments() == ["<price>5</price>", "<price>15</price>", "<b/>"]
    assert after[1].fragments() == during[0].fragments()
    server.adapt(1e6)
    assert "shop: from views" in server.query("//price").explain()


def test_with_a_source_down_a_query_is_materialized_at_the_others(tmp_path: Path) -> None:
    server = server_over(tmp_path, NAMES)
    server.materialize("//name")
    (tmp_path / "shop.xml").rename(tmp_path / "away")

    stored = server.materialize("/*/*")
    found, old = server.query("/*/*"), server.query("//name")
    (tmp_path / "away").rename(tmp_path / "shop.xml")
    (tmp_path / "shop.xml").write_text(SHOP.replace("B", "new"))
    server.refresh()

    assert [error.source for error in stored.missing] == ["shop"]
    assert found.fragments() == ["<name>C</name>", "<b/>", "<name>D</name>"]
    assert [error.source for error in found.missing] == ["shop"]
    assert (old.rows.num_rows, old.is_whole) == (4, True)
    assert server.query("/*/*").rows.num_rows == 5
    assert server.query("//name").fragments()[:2] == ["<name>A</name>", "<name>new</name>"]
    assert not server.materialize("/*/*").missing
    assert "shop: from views" in server.query("/*/*").explain()


def test_with_a_source_down_a_recommendation_keeps_to_the_budget_beside_what_is_stored_of_it(tmp_path: Path) -> None:
    server = server_over(tmp_path, NAMES, rates=Rates(Rate(1e3), Rate(1e3), Rate(1.0)))
    size = server.materialize("/shop/item").size
    (tmp_path / "shop.xml").rename(tmp_path / "away")

    tight, wide = (server.recommend(queries("//name", "//price"), budget) for budget in (size, 1e6))
    (tmp_path / "away").rename(tmp_path / "shop.xml")
    stored = server.materialize(wide)

    assert [error.source for error in wide.missing] == ["shop"]
    assert not tight.choice.keys
    assert wide.choice.keys
    assert [error.source for error in stored.missing] == ["shop"], "it was not weighed, so it is left as it is"
    assert "from views" in server.query("/shop/item").explain()
    assert server.query("//name").fragments() == [f"<name>{name}</name>" for name in "ABCD"]
    assert server.materialize(tight).size <= size


def test_if_no_source_answers_that_is_an_error(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"shop.xml": SHOP})
    (tmp_path / "shop.xml").unlink()

    with pytest.raises(SourceError, match="shop: No such file"):
        server.recommend(queries("//name"), 1e6)
    with pytest.raises(SourceError, match="shop: No such file"):
        server.materialize("//name")
