"""EXPLAIN (VERBOSE) says why something is not done in vectors."""

from __future__ import annotations

import pytest
from test_keyed import plan_of

TABLES = """CREATE TABLE t (k int, n numeric, s text) USING {am};
 INSERT INTO t SELECT i % 100, i * 0.5, 's' || i FROM generate_series(1, 20000) i;
 CREATE TABLE o (k int, s text) USING {am};
 INSERT INTO o SELECT i, 'o' || i FROM generate_series(1, 5000) i;
 ANALYZE t; ANALYZE o"""

# operation above a table -> the line
REASONS = {
    "SELECT count(*) FROM t GROUP BY k + random()": [
        "aggregation: key with a volatile function or a subquery, or of what is no column"
    ],
    "SELECT k, array_agg(s ORDER BY n) FROM t GROUP BY k": [
        "aggregation: aggregate array_agg(anynonarray)"
    ],
    "SELECT t.k, array_agg(n) FROM t JOIN o USING (k) GROUP BY ROLLUP (t.k)": [
        "aggregation: grouping sets with such keys or aggregates"
    ],
    "SELECT count(*) FROM t JOIN o ON t.k < o.k - 4990": [
        "join of t, o: no equality of both sides that can be hashed"
    ],
    "SELECT t.s FROM t JOIN o ON t.k = o.k AND t.n + random()::numeric > 3": [
        "join of t, o: conditions that are volatile, or may tell what they see"
    ],
    "SELECT sum(k) OVER (ORDER BY n RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t": [
        "window with such a frame"
    ],
    "SELECT string_agg(s, ',') OVER (ORDER BY n) FROM t": [
        "window function string_agg(text,text) with such arguments"
    ],
    "SELECT k, count(*), sum(n) FROM t GROUP BY k": [],
    "SELECT o.s, sum(n) FROM t JOIN o USING (k) GROUP BY o.s": [],
    "SELECT x, c FROM (SELECT k AS x, count(*) AS c, mode() WITHIN GROUP (ORDER BY s || k)"
    " AS m FROM t GROUP BY k) v WHERE c > 5": [],
}


def notes(conn, sql: str, options: str = "VERBOSE") -> list[str]:
    nodes = plan_of(conn, sql, f", {options}")
    return [note for node in nodes for note in node.get("Not In Vectors", [])]


@pytest.fixture
def tables(conn, am):
    conn.execute(TABLES.format(am=am))
    conn.execute("SELECT count(*) FROM t")
    return conn


@pytest.mark.parametrize("sql", REASONS)
def test_reasons(tables, am, sql):
    """One line each, where the setting is on, with every search for join orders."""
    assert notes(tables, sql) == []
    tables.execute(f"SET {am}.explain_fallback = on")
    assert notes(tables, sql) == REASONS[sql]
    assert notes(tables, sql, "VERBOSE off") == []
    tables.execute("SET geqo_threshold = 2")
    assert notes(tables, sql) == REASONS[sql]


def test_prepared(tables, am):
    """The reasons are the plan's: kept with it, and of no other query."""
    tables.execute(
        f"SET {am}.explain_fallback = on; SET plan_cache_mode = force_generic_plan"
    )
    tables.execute(
        "PREPARE p AS SELECT k, array_agg(s ORDER BY n) FROM t WHERE k < $1 GROUP BY k"
    )
    expected = ["aggregation: aggregate array_agg(anynonarray)"]
    assert notes(tables, "EXECUTE p (5)") == expected
    tables.execute(f"SET {am}.explain_fallback = off")
    assert notes(tables, "EXECUTE p (5)") == expected
    assert notes(tables, "SELECT k, array_agg(s ORDER BY n) FROM t GROUP BY k") == []


def test_levels(tables, am):
    """Each query level has its own; partitions show their parent's."""
    tables.execute(
        f"""SET {am}.explain_fallback = on;
        CREATE TABLE p (k int, s text) PARTITION BY LIST (k);
        CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) USING {am};
        CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2) USING {am};
        INSERT INTO p SELECT 1 + i % 2, i FROM generate_series(1, 5000) i; ANALYZE p"""
    )
    inner = "SELECT k, array_agg(s ORDER BY s) AS a FROM p GROUP BY k"
    assert notes(tables, inner) == ["aggregation: aggregate array_agg(anynonarray)"]
    both = f"SELECT t.k, a FROM t JOIN ({inner} OFFSET 0) v ON t.k < v.k - 1"
    assert sorted(notes(tables, both)) == [
        "aggregation: aggregate array_agg(anynonarray)",
        "join of t, v: no equality of both sides that can be hashed",
    ]
