"""Build all pages and the API reference as a site in build/site; a broken link is told, and fails the build."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from lxml import html

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
_KINDS = ("*.md", "*.svg", "*.png")
_LOADED = {"script", "link", "img", "iframe", "source"}  # elements whose address a browser loads by itself


def main() -> int:
    """Stage, build, check; return the exit code."""
    stage()
    shutil.rmtree(SITE, ignore_errors=True)
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=ROOT, check=False)
    if built.returncode != 0:
        return 1
    broken = list(broken_links(SITE))
    print(*broken, sep="\n", end="\n" if broken else "")
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE.relative_to(ROOT)}, {len(broken)} broken links")
    return 1 if broken else 0


def stage() -> None:
    """Copy the pages to where they keep their places, so that a link works in the repository and on the site."""
    shutil.rmtree(PAGES, ignore_errors=True)
    found = [ROOT / "LICENSE", *ROOT.glob("*.md"), *(path for kind in _KINDS for path in ROOT.glob(f"docs/**/{kind}"))]
    for path in found:
        copy = PAGES / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def broken_links(site: Path) -> Iterator[str]:
    """Links to files or headings that are not there, and whatever a page would load from another host."""
    pages = {path.resolve(): html.parse(path).getroot() for path in site.rglob("*.html") if path.name != "404.html"}
    names = {path: set(page.xpath("//@id | //a/@name")) for path, page in pages.items()}
    for path, page in pages.items():
        place = path.relative_to(site.resolve())
        for element, _, link, _ in page.iterlinks():
            if urlsplit(link).scheme or link.startswith("//"):
                if element.tag in _LOADED and not link.startswith("data:"):
                    yield f"{place}: loads {link} from another host"
                continue
            file, heading = urldefrag(link)
            target = (path.parent / unquote(file)).resolve() if file else path
            if not target.exists():
                yield f"{place}: links to {link}, which is not there"
            elif heading and target in names and unquote(heading) not in names[target]:
                yield f"{place}: links to {link}, which has no such heading"


if __name__ == "__main__":
    sys.exit(main())
