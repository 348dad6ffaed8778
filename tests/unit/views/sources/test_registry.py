"""The sources of a store: kept in order, durable, shared by processes, checked."""

import subprocess
import sys
from pathlib import Path

import pytest

from rude_server import hanging, rude_server
from weft.errors import ConfigurationError
from weft.views.sources.local import FileSource
from weft.views.sources.rates import Cost, Rate, Rates
from weft.views.sources.registry import SourceRegistry
from weft.views.sources.running import serving
from weft.views.sources.source import SourceError, read_question


def file(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.xml").write_text(f"<{name}><item/></{name}>")
    return folder / f"{name}.xml"


def test_sources_are_kept_in_the_order_of_adding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("zoo", "shop", "bank"):
        file(tmp_path, name)
    monkeypatch.chdir(tmp_path)
    registry = SourceRegistry("store")
    assert registry.entries() == ()

    given = Rates(Rate(1e6), None, Rate(0.02))
    registry.add("zoo.xml")
    registry.add("shop.xml", given=given)
    registry.add("bank.xml", "mine")

    entries = SourceRegistry(tmp_path / "store").entries()
    assert [entry.name for entry in entries] == ["zoo", "shop", "mine"]
    assert entries[1].location == str(tmp_path / "shop.xml")
    assert entries[1].given == given
    assert entries[2].open().answer([read_question("/bank/item")]).rows[0]["source"].to_pylist() == ["mine"]
    registry.remove("shop")
    assert [entry.name for entry in registry.entries()] == ["zoo", "mine"]


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    registry = SourceRegistry(tmp_path / "store")
    registry.add(file(tmp_path / "one", "shop"))

    with pytest.raises(ConfigurationError, match=r"source shop: expected a new name, found that of .*one/shop.xml"):
        registry.add(file(tmp_path / "two", "shop"))

    registry.add(tmp_path / "two" / "shop.xml", "other")
    assert len(registry.entries()) == 2


def test_what_does_not_answer_is_not_added(tmp_path: Path) -> None:
    registry = SourceRegistry(tmp_path / "store")

    with pytest.raises(SourceError, match="No such file"):
        registry.add(tmp_path / "gone.xml")
    with pytest.raises(ConfigurationError, match=r"source gone: expected one of those that were added \(none\)"):
        registry.remove("gone")

    assert registry.entries() == ()


def test_rates_are_given_or_measured_or_hinted(tmp_path: Path) -> None:
    registry = SourceRegistry(tmp_path / "store")
    hinted = Rates(Rate(5e6), Rate(5e6), Rate(0.001))
    with serving(FileSource(file(tmp_path, "shop")), hinted) as address:
        registry.add(address, given=Rates(processing=Rate(7.0)))
    assert registry.entry("shop").rates() == Rates(Rate(7.0), Rate(5e6), Rate(0.001))

    registry.observe({"shop": [Cost(1000, 0.1, 1.0), Cost(10_000, 1.0, 1.9)], "gone": [Cost(1, 1.0, 1.0)]})

    rates = SourceRegistry(tmp_path / "store").entry("shop").rates()
    assert rates.processing == Rate(7.0)
    assert rates.transmission is not None
    assert rates.transmission.mean == pytest.approx(10_000)
    assert rates.latency is not None
    assert rates.latency.mean == pytest.approx(0.9)


def test_a_check_tells_what_changed_since_the_last(tmp_path: Path) -> None:
    file(tmp_path / "shops", "shop")
    file(tmp_path / "shops" / "more", "shop")
    registry = SourceRegistry(tmp_path / "store")
    registry.add(tmp_path / "shops")
    assert (registry.check("shop").changed, registry.check("shop").documents) == ((), 2)

    (tmp_path / "shops" / "shop.xml").write_text("<shop/>")
    (tmp_path / "shops" / "more" / "shop.xml").rename(tmp_path / "shops" / "new.xml")

    assert registry.check("shop").changed == ("more/shop.xml", "shop.xml", "new.xml")
    assert registry.check("shop").changed == ()


def test_a_check_tells_that_a_source_is_down(tmp_path: Path) -> None:
    registry = SourceRegistry(tmp_path / "store")
    with serving(FileSource(file(tmp_path, "shop"))) as address:
        registry.add(address)
        assert registry.check("shop").error is None
    before = registry.entry("shop")

    found = registry.check("shop", timeout=60)

    assert found.error is not None
    assert found.documents is None
    assert registry.entry("shop") == before
    with rude_server(hanging) as hung:
        (tmp_path / "store" / "sources.json").unlink()
        with pytest.raises(SourceError):
            SourceRegistry(tmp_path / "store").add(f"{hung}:1")


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    registry = SourceRegistry(tmp_path / "store")
    registry.add(file(tmp_path, "shop"))
    kept = tmp_path / "store" / "sources.json"
    kept.write_bytes(kept.read_bytes().replace(b"shop", b"ship"))

    with pytest.raises(ConfigurationError, match="damaged: its checksum"):
        registry.entries()


@pytest.mark.slow
def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from weft.views.sources.registry import SourceRegistry\n"
        "registry = SourceRegistry(sys.argv[1])\n"
        "for path in sys.argv[2:]: registry.add(path)\n"
    )
    names = [[f"{letter}{number}" for number in range(5)] for letter in "ab"]
    started = [
        subprocess.Popen([sys.executable, "-c", program, tmp_path / "store", *(file(tmp_path, name) for name in each)])
        for each in names
    ]

    assert [process.wait(60) for process in started] == [0, 0]
    found = [entry.name for entry in SourceRegistry(tmp_path / "store").entries()]
    assert sorted(found) == sorted(name for each in names for name in each)
    assert all([name for name in found if name[0] == each[0][0]] == each for each in names)
