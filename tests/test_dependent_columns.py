"""GROUP BY a primary key gives columns of the table, as heap's aggregation does."""

from __future__ import annotations

import json

import pytest
from test_keyed import plan_of

TABLES = """
CREATE TABLE {name} (id int PRIMARY KEY, k int, n numeric, t text, b bpchar(8), f float8,
  j jsonb, d date, y bool, a int[]) USING {am};
INSERT INTO {name} SELECT i, i % 500, CASE WHEN i % 7 > 0 THEN i * 0.25 END,
  CASE WHEN i % 5 > 0 THEN 'text ' || i END, 'b' || i % 3, i / 3.0,
  CASE WHEN i % 11 > 0 THEN jsonb_build_object('i', i) END,
  date '2020-01-01' + i % 900, i % 2 = 0, ARRAY[i, i + 1]
  FROM generate_series(1, 5000) i;
CREATE TABLE {name}_rows (id int, x int) USING {am};
INSERT INTO {name}_rows SELECT i % 6000, i FROM generate_series(1, 20000) i;
ANALYZE {name}; ANALYZE {name}_rows;
"""

QUERIES = {
    "all types": "SELECT {T}.*, count(*) FROM {T} GROUP BY id",
    "join": "SELECT {T}.*, sum(x), max(x) FROM {T} JOIN {T}_rows r USING (id) GROUP BY {T}.id",
    "outer join": "SELECT r.id, {T}.id, t, n, count(*) FROM {T}_rows r LEFT JOIN {T} ON r.id = {T}.id"
    " GROUP BY r.id, {T}.id",
    "all columns": "SELECT {T}.id, t, n, b, sum(x) FROM {T} JOIN {T}_rows r USING (id)"
    " GROUP BY {T}.id, t, n, b",
    "expressions": "SELECT upper(t) || b, n + count(*), j->>'i' FROM {T} GROUP BY id",
    "having": "SELECT id, t, count(*) FROM {T} GROUP BY id HAVING n > 100 AND max(k) < 300",
    "no aggregate": "SELECT t, n FROM {T} GROUP BY id",
    "equal keys": "SELECT {T}.id, r.id, t, count(*) FROM {T} JOIN {T}_rows r ON r.id = {T}.id"
    " GROUP BY {T}.id, r.id",
    "one key known": "SELECT k, id, t, count(*) FROM {T} WHERE k = 7 GROUP BY k, id",
    "no key left": "SELECT k, count(*) FROM {T} WHERE k = 7 AND id < 0 GROUP BY k",
    "placeholder": "SELECT r.id, s.c, count(*) FROM {T}_rows r LEFT JOIN"
    " (SELECT id, coalesce(t, 'none') AS c FROM {T}) s ON r.id = s.id GROUP BY r.id, s.c",
    "order": "SELECT id, t, sum(x) FROM {T} JOIN {T}_rows r USING (id) GROUP BY {T}.id"
    " ORDER BY 3 DESC, 1 LIMIT 20",
    "rescan": "SELECT v, s.* FROM (VALUES (3), (9), (9), (1)) AS w (v), LATERAL"
    " (SELECT id, t, j, sum(x + v) FROM {T} JOIN {T}_rows r USING (id) WHERE k = v"
    " GROUP BY {T}.id) s",
    "distinct aggregate": "SELECT id, t, count(DISTINCT x % 3) FROM {T} JOIN {T}_rows r USING (id)"
    " GROUP BY {T}.id",
}


@pytest.fixture
def tables(conn, am):
    for name, method in (("ours", am), ("twin", "heap")):
        conn.execute(TABLES.format(name=name, am=method))
    return conn


def rows(conn, query: str, name: str) -> list[str]:
    return sorted(map(str, conn.execute(query.format(T=name)).fetchall()))


def plan(conn, query: str) -> str:
    return json.dumps(plan_of(conn, query.format(T="ours"), ", ANALYZE, TIMING off"))


@pytest.mark.parametrize("what", QUERIES)
def test_queries(tables, what):
    """In memory, with groups on disk, and by workers."""
    query = QUERIES[what]
    expected = rows(tables, query, "twin")
    assert rows(tables, query, "ours") == expected
    tables.execute("SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
    assert rows(tables, query, "ours") == expected
    tables.execute(
        "RESET work_mem; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
        "SET min_parallel_table_scan_size = 0"
    )
    assert rows(tables, query, "ours") == expected


def test_taken(tables, am):
    """The columns do not keep a query out of vectors; rows on disk bring them back."""
    tables.execute("SET enable_sort = off; SET enable_hashagg = off")
    name = f"{am.capitalize()}Aggregate"
    for what in ("all types", "join", "expressions", "having"):
        assert name in plan(tables, QUERIES[what]), what
    tables.execute("SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
    text = plan(tables, QUERIES["join"])
    assert name in text
    assert '"Rows On Disk": 0' not in text
    assert rows(tables, QUERIES["join"], "ours") == rows(
        tables, QUERIES["join"], "twin"
    )
