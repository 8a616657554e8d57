"""Documents name what is there: links lead somewhere, files of how-tos exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def files(pattern: str) -> list[Path]:
    """Files of the tree, but for what was built."""
    found = [
        path
        for path in ROOT.rglob(pattern)
        if not {"build", ".git", "out"} & set(path.relative_to(ROOT).parts)
    ]
    assert found, pattern
    return found


def anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    heads = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}


def test_links_lead_somewhere() -> None:
    broken = []
    for page in files("*.md"):
        for link in LINK.findall(CODE.sub("", page.read_text())):
            if "://" in link:
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
            elif anchor and anchor not in anchors(target.read_text()):
                broken.append(f"{page.relative_to(ROOT)}: no heading #{anchor}")
    assert not broken


def test_howtos_name_files_that_exist() -> None:
    paths = [path.as_posix() for path in files("*")]
    missing = []
    for page in files("howto-*.md"):
        for word in re.findall(r"`([\w/.-]+\.(?:[ch]|py|sql|md))`", page.read_text()):
            there = any(path.endswith(f"/{word}") for path in paths)
            if not there and not word.startswith("utils/"):
                missing.append(f"{page.name}: {word}")
    assert not missing


def test_glossary_is_sorted_and_has_each_word_once() -> None:
    rows = re.findall(
        r"^\| (.*?) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE
    )
    words = [row.lower() for row in rows[1:]]
    assert words == sorted(words)
    assert len(set(words)) == len(words)
