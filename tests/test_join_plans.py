"""Which join the planner takes where estimates are bad, and what fetches cost."""

from __future__ import annotations

import pytest
from test_keyed import plan_of

TABLES = """CREATE TABLE sales (k int, year int, kind text, v numeric) USING {am};
 INSERT INTO sales SELECT i % 1500, 2000 + i / 1500 % 4, 's', i % 100 + 1
   FROM generate_series(1, 12000) i;
 ANALYZE sales"""

TWICE = """WITH y AS MATERIALIZED (SELECT k, year, kind, sum(v) AS s FROM {0} GROUP BY 1, 2, 3)
 SELECT count(*), sum(b.s) FROM y a, y b WHERE a.k = b.k AND a.kind = 's' AND b.kind = 's'
 AND a.year = 2001 AND b.year = 2002 AND a.s > 1 AND b.s > 1"""
WITHIN = """SELECT count(*) FROM {0} o WHERE k IN (SELECT a.k FROM
 (SELECT k, year, kind, sum(v) AS s FROM {0} GROUP BY 1, 2, 3 OFFSET 0) a WHERE
 a.kind = 's' AND a.year = 2001 AND a.s > 1) AND o.year = 2002 AND o.kind = 's' AND o.v > 1
 AND abs(o.year) = 2002"""
OUTER = """WITH y AS MATERIALIZED (SELECT k, year, kind, sum(v) AS s FROM {0} GROUP BY 1, 2, 3)
 SELECT count(*), sum(b.s) FROM y a LEFT JOIN y b ON a.k = b.k + 1 AND b.kind = 's'
 AND b.year = 2002 AND b.s > 1 WHERE a.kind = 's' AND a.year = 2001 AND a.s > 1"""
QUERIES = {"twice": TWICE, "within": WITHIN, "outer": OUTER}


def loops(conn, sql: str) -> int:
    return sum(n["Node Type"] == "Nested Loop" for n in plan_of(conn, sql))


@pytest.mark.parametrize("what", QUERIES)
def test_bets(conn, am, what):
    """No loop over all of a side of which the planner expects a row; heap's plans stay."""
    conn.execute(TABLES.format(am=am))
    conn.execute("CREATE TABLE h AS SELECT * FROM sales; ANALYZE h")
    conn.execute("SET enable_mergejoin = off")
    ours, heap = QUERIES[what].format("sales"), QUERIES[what].format("h")
    expected = loops(conn, heap)
    assert loops(conn, ours) == 0
    rows = conn.execute(ours).fetchall()
    conn.execute(f"SET {am}.enable_robust_joins = off")
    conn.execute(f"SET {am}.enable_vector_join = off")
    assert loops(conn, heap) == expected > 0
    assert loops(conn, ours) > 0
    assert conn.execute(ours).fetchall() == rows


def test_single_rows(conn, am):
    """What a unique index finds is no bet: two rows are joined by a loop."""
    conn.execute(TABLES.format(am=am))
    conn.execute("CREATE TABLE one (id int PRIMARY KEY, k int) USING " + am)
    conn.execute(
        "INSERT INTO one SELECT i, i % 9 FROM generate_series(1, 20000) i; ANALYZE one"
    )
    conn.execute("SET enable_seqscan = off")
    sql = "SELECT * FROM one a JOIN one b ON a.k = b.k WHERE a.id = 5 AND b.id = 14"
    assert loops(conn, sql) == 1


def test_scattered_fetches(conn, am):
    """Ten thousand rows from all over a table are scanned for, ten are fetched."""
    conn.execute(
        f"CREATE TABLE big (id int PRIMARY KEY, v int, w int) USING {am};"
        "INSERT INTO big SELECT i, i % 77, i FROM generate_series(1, 200000) i;"
        "CREATE TABLE keys AS SELECT i * 7919 % 200000 AS id FROM generate_series(1, 10000) i;"
        "ANALYZE big; ANALYZE keys; SET enable_mergejoin = off"
    )
    sql = "SELECT sum(v) FROM keys JOIN big USING (id)"
    fetches = [n for n in plan_of(conn, sql) if n["Node Type"] == "Index Scan"]
    assert fetches == [] or am == "rowcompress"
    conn.execute("DELETE FROM keys WHERE ctid NOT IN (SELECT ctid FROM keys LIMIT 10)")
    conn.execute("VACUUM ANALYZE keys")
    assert any(n["Node Type"] == "Index Scan" for n in plan_of(conn, sql))


def test_many_groups(conn, am):
    """A wrong estimate of many groups by texts leaves aggregates in vectors."""
    conn.execute(
        f"CREATE TABLE docs (doc jsonb) USING {am};"
        "INSERT INTO docs SELECT jsonb_build_object('a', i % 5, 'b', i)"
        " FROM generate_series(1, 60000) i; ANALYZE docs"
    )
    conn.execute("SET max_parallel_workers_per_gather = 0")
    (aggregate,) = (
        n
        for n in plan_of(conn, "SELECT doc->>'a' FROM docs GROUP BY 1")
        if "Group Key" in n
    )
    assert aggregate["Plan Rows"] > 8192
    assert aggregate["Custom Plan Provider"].endswith("Aggregate")
