"""SQL of the documents: run, and compared with the results that they show.

A comment under a statement is a row of its result, values joined by " | ";
one that begins with dots is part of some row.  Statements with no comment
have only to succeed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str, heading: str) -> Iterator[tuple[str, str]]:
    """(word after "sql", text) of the SQL blocks below a heading of a page."""
    text = (DOCS / page).read_text()
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    section = dict(zip(parts[1::2], parts[2::2], strict=True))[heading]
    found = re.findall(r"^```sql *(\w*)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no SQL under {heading}"
    yield from found


def statements(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each statement with the comment lines under it."""
    sql: list[str] = []
    ended = False
    shown: list[str] = []
    for line in [*block.splitlines(), ""]:
        if ended and line.startswith("-- "):
            shown.append(line.removeprefix("-- "))
            continue
        if ended:
            yield "\n".join(sql), shown
            sql, shown, ended = [], [], False
        if line:
            sql.append(line)
            ended = line.endswith(";")
    assert not sql, f"a statement without an end: {sql}"


def run(conn, block: str, change: Callable[[str], str] = lambda sql: sql) -> int:
    """Run a block; returns how many results it has compared."""
    compared = 0
    for sql, shown in statements(block):
        cursor = conn.execute(change(sql), prepare=False)
        if not shown:
            continue
        rows = [" | ".join(map(str, row)) for row in cursor.fetchall()]
        for part in (line for line in shown if line.startswith("... ")):
            wanted = part.removeprefix("... ")
            assert any(wanted in row for row in rows), "\n".join([sql, wanted, *rows])
        exact = [line for line in shown if not line.startswith("... ")]
        assert not exact or rows == exact, f"{sql}\n{rows}"
        compared += 1
    return compared
