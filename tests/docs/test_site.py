"""The pages and the API reference build as a site: every link leads somewhere, and nothing comes from another host."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from docs.build import broken_links
from lxml import html

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = {"weft": "weft", "weft.spark": "spark", "weft.headers": "headers", "weft.workload": "workload"}
#: What the pages on networks and stream views use, which no `__all__` names.
ALSO = {
    "network": {"tree", "simulate", "Simulation", "EmbeddedNetwork", "Topology", "Report"},
    "headers": {"AdaptiveViews"},
    "views": {"QueryServer", "QueryAnswer"},
}


def copy_project(to: Path) -> Path:
    """What the site is made of, where a test may build it and break it."""
    for path in (ROOT / "LICENSE", ROOT / "zensical.toml", *ROOT.glob("*.md")):
        shutil.copy(path, to)
    shutil.copytree(ROOT / "docs", to / "docs")
    shutil.copytree(ROOT / "src", to / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"))
    return to


def build(project: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(project / "docs" / "build.py")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def headings(project: Path, page: str) -> set[str]:
    """The names that a page of the reference has."""
    ids = html.parse(project / f"build/site/docs/api/{page}.html").xpath("//h2/@id | //h3/@id")
    return {heading.rsplit(".", 1)[-1] for heading in ids}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical", reason="the extra docs is not installed")
    return copy_project(tmp_path_factory.mktemp("project"))


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link_and_names_all_that_is_public(project: Path) -> None:
    built = build(project)

    assert built.returncode == 0, built.stdout + built.stderr
    assert "0 broken links" in built.stdout
    for module, page in REFERENCE.items():
        public = set(importlib.import_module(module).__all__)
        assert public <= headings(project, page), f"the reference of {module} lacks names"
    assert {page: names - headings(project, page) for page, names in ALSO.items()} == {page: set() for page in ALSO}


@pytest.mark.slow
def test_a_broken_link_fails_the_build(project: Path) -> None:
    page = project / "docs" / "tutorial.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n[nowhere](nowhere.md)\n", encoding="utf-8")

    built = build(project)

    assert built.returncode == 1
    assert "page does not exist" in built.stderr


def test_the_navigation_names_every_page() -> None:
    text = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    pages = {str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))}

    tomllib.loads(text)

    assert {page for page in pages if f'"{page}"' not in text} == set(), "add them to nav in zensical.toml"


@pytest.mark.parametrize(
    ("markup", "told"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html, which is not there"),
        ('<img src="plots/gone.svg">', "links to plots/gone.svg, which is not there"),
        ('<a href="other.html#gone">x</a>', "links to other.html#gone, which has no such heading"),
        (
            '<script src="https://example.org/x.js"></script>',
            "loads https://example.org/x.js from another host",
        ),
        ('<a href="other.html#here">x</a> <a href="#top">y</a> <a href="https://example.org/">z</a>', None),
    ],
)
def test_a_link_that_leads_nowhere_is_told(tmp_path: Path, markup: str, told: str | None) -> None:
    (tmp_path / "index.html").write_text(f'<html><body id="top">{markup}</body></html>', encoding="utf-8")
    (tmp_path / "other.html").write_text('<html><body><h2 id="here">x</h2></body></html>', encoding="utf-8")

    assert list(broken_links(tmp_path)) == ([] if told is None else [f"index.html: {told}"])
