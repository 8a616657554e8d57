"""Every SQL block of README and of the documents runs, and prints what stands there.

The blocks of a page run one after the other in one session of psql, in a database of
their own.  A block of output right below a block of SQL is what that prints; where it
has no ERROR, none may come.  Compared is all but what the server's version, the
machine or the page size decide: widths of columns, sizes (by a fifth), buffers, memory.

DOCS_WRITE=1 writes what is printed into the pages instead.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_docs import ROOT

BLOCK = re.compile(
    r"^```sql\n(?P<sql>.*?)^```\n(?:\n```\n(?P<output>.*?)^```\n)?", re.M | re.S
)
MARK = "@@@ block"
SIZE = re.compile(r"\b(\d+) (bytes|kB|MB|GB)")
NUMBER = re.compile(r"(?<=rows=)(\d+)\.00\b")
DROPPED = re.compile(
    r"^\s*(Buffers: |Memory: |Planning:|Index Searches: )|^\(\d+ rows?\)$"
)
# What follows from how much fits into a batch, which zstd's version decides.
COUNT = re.compile(r"(?<=Batches: pruned=)\d+|(?<=Removed by Filter: )\d+")
UNITS = {"bytes": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}

PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (
        ROOT / "README.md",
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("extensions/*/README.md"),
    )
    if "```sql" in page.read_text()
)


@dataclass
class Printed:
    """Lines of output in a form that can be compared, and the sizes in them."""

    lines: list[str]
    sizes: list[int]

    @classmethod
    def of(cls, text: str) -> Printed:
        lines, sizes = [], []
        for line in text.splitlines():
            line = re.sub(r"^psql:[^:]*:\d+: ", "", line)
            if DROPPED.match(line) or not line.strip():
                continue
            sizes += [int(n) * UNITS[unit] for n, unit in SIZE.findall(line)]
            sizes += map(int, COUNT.findall(line))
            line = COUNT.sub("COUNT", line)
            line = NUMBER.sub(r"\1", SIZE.sub("SIZE", line))
            line = re.sub(r"^[-+]+$", "---", " ".join(line.split()))
            lines.append(re.sub(r" *\| *", "|", line))
        return cls(lines, sizes)


def differ(expected: Printed, got: Printed) -> bool:
    """Do they say different things?"""
    return expected.lines != got.lines or any(
        abs(a - b) > max(a, b) / 5
        for a, b in zip(expected.sizes, got.sizes, strict=True)
    )


def run(cluster, database: str, blocks: list[str]) -> list[str]:
    """What psql prints for each block."""
    script = "".join(f"\\echo {MARK}\n{block}\n" for block in blocks)
    with cluster.server.popen(
        "psql", "-X", "-q", "-d", database, "-f", "-",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=cluster.server.environment()
        | {"PGHOST": str(cluster.socket), "PGUSER": "postgres", "PGTZ": "UTC"},
    ) as process:  # fmt: skip
        output, _ = process.communicate(script, timeout=300)
    return output.split(f"{MARK}\n")[1:]


def write(page: Path, outputs: list[str]) -> None:
    """Put the outputs into the page, where it has a block for them."""
    left = iter(outputs)

    def block(match: re.Match) -> str:
        text = "\n".join(
            re.sub(r"^psql:[^:]*:\d+: ", "", line).rstrip()
            for line in next(left).strip("\n").splitlines()
        )
        if match["output"] is None:
            return match[0]
        return f"```sql\n{match['sql']}```\n\n```\n{text}\n```\n"

    page.write_text(BLOCK.sub(block, page.read_text()))


@pytest.mark.parametrize("name", PAGES)
def test_page(cluster, name):
    page = ROOT / name
    found = list(BLOCK.finditer(page.read_text()))
    with cluster.connect() as admin:
        admin.execute("CREATE DATABASE docs")
    try:
        outputs = run(cluster, "docs", [match["sql"] for match in found])
    finally:
        with cluster.connect() as admin:
            admin.execute("DROP DATABASE docs WITH (FORCE)")
    assert len(outputs) == len(found)
    if os.environ.get("DOCS_WRITE"):
        write(page, outputs)
        return
    wrong = []
    for match, text in zip(found, outputs, strict=True):
        expected, got = Printed.of(match["output"] or ""), Printed.of(text)
        if match["output"] is None:
            if any("ERROR:" in line for line in got.lines):
                wrong.append(f"{match['sql']}\nprints\n{text}")
        elif differ(expected, got):
            wrong.append(f"{match['sql']}\nprints\n{text}\nand not\n{match['output']}")
    assert not wrong, "\n".join(wrong)


def test_what_is_compared():
    def same(one: str, other: str) -> bool:
        return not differ(Printed.of(one), Printed.of(other))

    assert same(" a |  b\n---+----\n 1 | 2", "  a  | b\n-----+---\n   1 | 2 \n\n")
    assert same(
        "t (actual rows=5 loops=1)", "t (actual rows=5.00 loops=1)\n  Buffers: x"
    )
    assert same("ERROR:  no", "psql:<stdin>:7: ERROR:  no")
    assert same("size | 100 kB", "size | 110 kB") and same("1024 kB", "1 MB")
    assert not same("size | 100 kB", "size | 130 kB")
    assert same("Batches: pruned=100 read=4", "Batches: pruned=101 read=4")
    assert not same("Batches: pruned=100 read=4", "Batches: pruned=150 read=4")
    assert not same("Batches: pruned=100 read=4", "Batches: pruned=100 read=5")
    assert not same("a\n1", "a\n2")
    assert same("Scan\n(1 row)", "Scan\n  Buffers: shared hit=1\n(2 rows)")
    assert not same("a\n1", "a\n1\n2")
