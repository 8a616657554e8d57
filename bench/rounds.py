"""What the writers of the data set "live" do, and the same done in bulk.

Round r (1, 2, ...) of a writer has the serial number s, of its own among all writers:
an UPDATE of a row, an INSERT of the row behind the first rows that s says, and each
fifth time a DELETE of a row, each its own transaction. Which rows, a fixed hash of s
says; they are of the first rows, so the order in which writers come does not matter:
the table after each writer's first so many rounds is always the same.
A Position says how many rounds, for one writer and each of its statements.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.events import row_select

WRITERS = 2
TABLE = "live"
DELETE_EACH = 5


@dataclass(frozen=True)
class Position:
    """The last round of a writer whose UPDATE, INSERT, DELETE is done."""

    updated: int = 0
    inserted: int = 0
    deleted: int = 0


def key(number: str, rows: int) -> str:
    """Expression, of SQL and of pgbench, of the row that `number` chooses."""
    return (
        f"(((({number}) * 2654435761) % 4294967296 * 1103515245 + 12345)"
        f" % 2147483648 / 7 % {rows} + 1)"
    )


def _serial(round_number: str, writer: str) -> str:
    return f"((({round_number}) - 1) * {WRITERS} + {writer} + 1)"


def updated_key(round_number: str, writer: str, rows: int) -> str:
    """Expression of the row that a round updates."""
    return key(f"{_serial(round_number, writer)} * 2", rows)


def deleted_key(round_number: str, writer: str, rows: int) -> str:
    """Expression of the row that a round deletes."""
    return key(f"{_serial(round_number, writer)} * 2 + 1", rows)


def script(rows: int) -> str:
    """The writers' script; the variable `n` is 0 at its start."""
    inserted = row_select(":s", ":s")
    return (
        "\\set n :n + 1\n"
        f"\\set u {updated_key(':n', ':client_id', rows)}\n"
        f"UPDATE {TABLE} SET amount = amount + 1 WHERE id = :u;\n"
        f"\\set s {_serial(':n', ':client_id')} + {rows}\n"
        f"INSERT INTO {TABLE} {inserted};\n"
        f"\\if :n % {DELETE_EACH} = 0\n"
        f"\\set d {deleted_key(':n', ':client_id', rows)}\n"
        f"DELETE FROM {TABLE} WHERE id = :d;\n"
        "\\endif\n"
    )


def last_deleting(round_number: int) -> int:
    """The last round up to this one that deletes."""
    return round_number // DELETE_EACH * DELETE_EACH


def advance(writer: int, old: Position, new: Position, rows: int) -> list[str]:
    """Statements that do to the table what a writer does between two positions."""
    found = []
    if new.updated > old.updated:
        found.append(
            f"UPDATE {TABLE} AS t SET amount = amount + u.times FROM"
            " (SELECT key, count(*) AS times FROM (SELECT"
            f" {updated_key('r', str(writer), rows)} AS key FROM"
            f" generate_series({old.updated + 1}::bigint, {new.updated}) AS r) AS k"
            " GROUP BY key) AS u WHERE t.id = u.key"
        )
    if new.inserted > old.inserted:
        first, last = (
            f"{rows} + {_serial(str(r), str(writer))}"
            for r in (old.inserted + 1, new.inserted)
        )
        found.append(f"INSERT INTO {TABLE} {row_select(first, last, WRITERS)}")
    if last_deleting(new.deleted) > old.deleted:
        first = last_deleting(old.deleted) + DELETE_EACH
        found.append(
            f"DELETE FROM {TABLE} WHERE id IN (SELECT"
            f" {deleted_key('r', str(writer), rows)} FROM"
            f" generate_series({first}::bigint, {new.deleted}, {DELETE_EACH}) AS r)"
        )
    return found


def read_log(lines, start: float) -> list[tuple[float, float, float]]:
    """Of pgbench's log: seconds after the start, latency and lag in milliseconds."""
    found = []
    for line in lines:
        _, _, latency, _, seconds, micro, lag, *_ = line.split()
        end = int(seconds) + int(micro) / 1e6 - start
        found.append((end, int(latency) / 1000, int(lag) / 1000))
    return found


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]
