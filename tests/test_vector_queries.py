"""Random queries give heap's rows or errors, with every optimisation on and off.

Where heap gives rows, so do we.  Where heap raises an error, we raise one of the
same SQLSTATE, with these exceptions, each of which is checked against heap row by
row (class Errors):
 - another row, or another expression of the query, raises ours: vectors are
   evaluated expression by expression, so the one that comes first may differ;
 - none is raised, because each row that raises heap's is rejected by another
   condition, which was evaluated before, or is not among those that ORDER BY and
   LIMIT return, so that nobody computed its output.

SECONDS=n runs the generator that long instead of a fixed number of queries;
SEED repeats a run.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from decimal import Decimal

import psycopg
import pytest
from psycopg.types.string import TextLoader
from strata.queries import COLUMNS, Generator, rows_sql

ROWS = 12000
QUERIES = 150
INDEXES = "(i4) (j4) (t) (d) (n2) gin(a) gin(j)"
FORCE_BITMAPS = (
    "SET enable_seqscan = off",
    "SET enable_indexscan = off",
    "SET enable_indexonlyscan = off",
    "SET cpu_tuple_cost = 0",
)
SMITH_SECONDS = 15
SMITH_START = 120


def load(conn, am: str) -> None:
    """A table of row groups, a delta, deleted and updated rows, and its twin."""
    for name, own in (("ours", am), ("heap", "heap")):
        conn.execute(f"CREATE TABLE {name} ({COLUMNS}) USING {own}")
        if name == "ours":
            conn.execute(f"SELECT {am}.set_options('ours', row_group_rows => 4096)")
        conn.execute(f"INSERT INTO {name} {rows_sql(1, ROWS, 7)}")
        conn.execute(f"INSERT INTO {name} {rows_sql(ROWS + 1, ROWS + 60, 8)}")
        conn.execute(f"DELETE FROM {name} WHERE k % 37 = 5 OR (j4 = 0 AND k % 2 = 0)")
        conn.execute(f"UPDATE {name} SET i4 = 7, t = 'blue' WHERE k % 101 = 3")
        for index in INDEXES.split() if name == "ours" else []:
            method, columns = index.split("(")
            conn.execute(f"CREATE INDEX ON {name} USING {method or 'btree'} ({columns}")
        conn.execute(f"ANALYZE {name}")


def show_text(conn) -> None:
    """Types of which Python has not all values come as text."""
    for name in ("date", "timestamp", "timestamptz", "interval"):
        conn.adapters.register_loader(name, TextLoader)


def switches(conn, am: str) -> list[str]:
    conn.execute(f"LOAD '{am}'")
    return [
        row[0]
        for row in conn.execute(
            f"SELECT name FROM pg_settings WHERE name ~ '^{am}\\.enable_'"
            " AND context = 'user'"
        )
    ]


def set_plan(conn, rng, names: list[str]) -> list[str]:
    """Switches some optimisations off, and parallel plans on or off."""
    conn.execute("RESET ALL")
    settings = ["SET timezone = 'Europe/Berlin'"]
    if rng.random() < 0.5:
        settings += [f"SET {name} = off" for name in names if rng.random() < 0.2]
    if rng.random() < 0.3:
        settings += [
            "SET parallel_setup_cost = 0",
            "SET parallel_tuple_cost = 0",
            "SET min_parallel_table_scan_size = 0",
        ]
    else:
        settings += ["SET max_parallel_workers_per_gather = 0"]
    if rng.random() < 0.2:
        settings += ["SET work_mem = '64kB'"]
    if rng.random() < 0.2:
        settings += ["SET enable_hashagg = off"]
    if rng.random() < 0.4:
        settings += FORCE_BITMAPS
    for setting in settings:
        conn.execute(setting)
    return settings


def alike(one, two) -> bool:
    """Equal, floats up to the order of their sums."""
    if isinstance(one, float) and isinstance(two, float):
        if math.isnan(one) or math.isnan(two):
            return math.isnan(one) and math.isnan(two)
        # a difference of large terms may be anything: sums are the user's risk
        return one == two or math.isclose(one, two, rel_tol=1e-4, abs_tol=1e-3)
    return repr(one) == repr(two)


def without_scale(rows: list) -> list:
    """1.0 and 1.00, 0 and -0 are one group: which of them stands for it is chance."""

    def plain(v):
        if isinstance(v, Decimal):
            return v.normalize() + 0
        return v + 0.0 if isinstance(v, float) else v

    return [tuple(map(plain, row)) for row in rows]


def same_rows(ours: list, heap: list) -> bool:
    if Counter(map(repr, ours)) == Counter(map(repr, heap)):
        return True
    if len(ours) != len(heap):
        return False
    key = repr
    return all(
        len(a) == len(b) and all(map(alike, a, b))
        for a, b in zip(sorted(ours, key=key), sorted(heap, key=key), strict=True)
    )


def outcome(conn, sql: str):
    """Rows and None, or None and an SQLSTATE."""
    try:
        return conn.execute(sql).fetchall(), None
    except psycopg.Error as error:
        if not error.sqlstate or error.sqlstate.startswith(("57", "XX", "08")):
            raise
        return None, error.sqlstate


class Errors:
    """Which rows of heap's table raise what, each on its own."""

    def __init__(self, conn):
        self.conn = conn

    def states(self, query: str) -> dict[int, str]:
        """By k, of rows for which a query of the one row raises an error."""
        alone = query.replace("TBL", "(SELECT (r).* OFFSET 0)")
        return self._by_row(f"FOR found IN {alone} LOOP NULL; END LOOP; RETURN NULL;")

    def rejected(self, condition: str) -> set[int]:
        """Rows that the condition leaves out, without an error."""
        verdicts = self._by_row(
            f"RETURN CASE WHEN (SELECT {condition} FROM (SELECT (r).* OFFSET 0) AS tbl)"
            " THEN NULL ELSE 'rejected' END;"
        )
        return {k for k, verdict in verdicts.items() if verdict == "rejected"}

    def _by_row(self, body: str) -> dict[int, str]:
        self.conn.execute(
            "CREATE OR REPLACE FUNCTION pg_temp.of_row(r heap) RETURNS text"
            f" LANGUAGE plpgsql AS $f$ DECLARE found record; BEGIN {body}"
            " EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $f$"
        )
        return dict(
            self.conn.execute(
                "SELECT * FROM (SELECT k, pg_temp.of_row(heap) AS state FROM heap) x"
                " WHERE state IS NOT NULL"
            ).fetchall()
        )

    def silent(self, generator: Generator, query: str, ours: list) -> str | None:
        """Heap raised an error, we did not: what is wrong with that, if anything."""
        left = set(self.states(query))
        if not left:
            return "no single row raises an error"
        if len(generator.conditions) > 1:
            for condition in generator.conditions:
                left -= self.rejected(condition)
        if generator.limited:
            left -= left - {row[0] for row in ours}
        return f"rows {sorted(left)[:3]} raise an error" if left else None

    def other(self, generator: Generator, query: str, state: str) -> str | None:
        """We raised another error than heap's."""
        if state in self.states(query).values():
            return None
        for part in (*generator.outputs, *generator.conditions):
            if state in self.states(f"SELECT {part} FROM TBL tbl").values():
                return None
        return f"nothing in the query raises {state}"


def compare(conn, generator: Generator, query: str) -> str | None:
    """What differs, if anything does."""
    heap, heap_state = outcome(conn, query.replace("TBL", "heap"))
    ours, state = outcome(conn, query.replace("TBL", "ours"))
    if heap_state:
        if state == heap_state:
            return None
        errors = Errors(conn)
        fault = (
            errors.other(generator, query, state)
            if state
            else errors.silent(generator, query, ours)
        )
        return fault and f"heap raises {heap_state}, ours {state}: {fault}"
    if state:
        return f"heap gives {len(heap)} rows, ours raises {state}"
    if re.search(r"DISTINCT|GROUP BY|min\(|max\(", query):
        ours, heap = without_scale(ours), without_scale(heap)
    if same_rows(ours, heap):
        return None
    lost = Counter(map(repr, heap)) - Counter(map(repr, ours))
    more = Counter(map(repr, ours)) - Counter(map(repr, heap))
    return f"lost {list(lost)[:3]}, more {list(more)[:3]}"


def run(conn, am: str, rng, queries: int, seconds: float = 0) -> list[str]:
    show_text(conn)
    generator = Generator(rng)
    names = switches(conn, am)
    assert len(names) > 3
    faults = []
    done = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end if seconds else done < queries:
        settings = set_plan(conn, rng, names)
        for _ in range(10):
            query = generator.query()
            done += 1
            fault = compare(conn, generator, query)
            if fault:
                faults.append("\n".join([*settings, query, "-- " + fault]))
                if len(faults) >= 5:
                    return faults
    return faults


def is_bitmap_driven(conn, am: str) -> bool:
    for setting in FORCE_BITMAPS:
        conn.execute(setting)
    sql = "EXPLAIN SELECT count(*), sum(k) FROM ours WHERE i4 < 9 OR a @> '{t1}'"
    plan = "\n".join(line for (line,) in conn.execute(sql))
    conn.execute("RESET ALL")
    return f"({am.capitalize()}Scan)" in plan and "BitmapOr" in plan


def test_queries(conn, am, rng):
    load(conn, am)
    assert is_bitmap_driven(conn, am)
    seconds = float(os.environ.get("SECONDS", 0))
    faults = run(conn, am, rng, QUERIES, seconds)
    assert not faults, "\n\n".join(faults)


def is_up(conn) -> bool:
    return conn.execute("SELECT true").fetchone() == (True,)


@pytest.mark.skipif(not shutil.which("sqlsmith"), reason="sqlsmith is not installed")
def test_sqlsmith(db, conn, am, rng):
    """Nothing that sqlsmith makes up crashes the server, which would end conn.

    It runs as a role of its own: sqlsmith calls every function it may."""
    load(conn, am)
    conn.execute("CREATE ROLE smith LOGIN")
    conn.execute("GRANT ALL ON ours, heap TO smith")
    seconds = float(os.environ.get("SECONDS", SMITH_SECONDS))
    smith = subprocess.Popen(
        ["sqlsmith", f"--target={db.cluster.dsn(db.name, 'smith')}",
         "--exclude-catalog", f"--seed={rng.randrange(2**31)}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    stop = threading.Timer(seconds + SMITH_START, smith.kill)
    stop.start()
    try:
        # it reads the whole catalog before it begins
        assert any(b"Generating indexes" in line for line in smith.stderr)
        with contextlib.suppress(subprocess.TimeoutExpired):
            smith.wait(seconds)
    finally:
        stop.cancel()
        smith.kill()
        smith.communicate()
    assert is_up(conn)
    conn.execute("DROP OWNED BY smith")
    conn.execute("DROP ROLE smith")
