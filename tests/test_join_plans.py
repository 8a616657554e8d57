"""Which join the planner takes where estimates are bad, and what fetches cost."""

from __future__ import annotations

import itertools
import os
import statistics

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


RECORDS = {
    "join": "SELECT (c.r).alpha + o.year FROM {0} o, c WHERE o.year = c.year",
    "groups": "SELECT (c.r).alpha, count(*) FROM {0} o, c WHERE o.year = c.year GROUP BY 1",
    "windows": "SELECT sum((c.r).alpha) OVER (PARTITION BY (c.r).alpha) FROM {0} o, c WHERE o.year = c.year",
    "recursive": """WITH RECURSIVE s AS (SELECT year AS alpha FROM {0} WHERE year = 2000 UNION ALL
 SELECT o.year FROM {0} o, s WHERE o.year = s.alpha + 1) SEARCH BREADTH FIRST BY alpha SET r
 SELECT count(*) FROM s""",
}


@pytest.mark.parametrize("what", RECORDS)
def test_fields_of_records_keep_their_names(conn, am, what):
    """EXPLAIN finds them in the plan of a CTE where heap's plans have it."""
    conn.execute(TABLES.format(am=am))
    sql = RECORDS[what].format("sales")
    if what != "recursive":
        sql = (
            "WITH c AS MATERIALIZED (SELECT year, s AS r FROM"
            f" (SELECT k AS alpha, year FROM sales OFFSET 0) s) {sql}"
        )
    conn.execute("SET enable_mergejoin = off")
    lines = conn.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {sql}").fetchall()
    plan = "\n".join(line for (line,) in lines)
    assert ".alpha" in plan or ')."*DEPTH*"' in plan, plan
    assert ").f1" not in plan, plan


KEYED = """CREATE TABLE pairs (a int, b bigint, v int, {key}) USING {am};
 INSERT INTO pairs SELECT i / 10, i, i FROM generate_series(0, 22499) i;
 CREATE TABLE facts (a int, b int, w int) USING {am};
 INSERT INTO facts SELECT i % 22500 / 10, i % 22500, i FROM generate_series(1, 20000) i;
 ANALYZE pairs; ANALYZE facts"""
BY_KEY = {
    "both": "f.a = p.a AND p.b = f.b",
    "in ON": "f.b = p.b AND p.a = f.a AND f.w < p.v + 100000",
    "one": "f.a = p.a AND f.b + 0 = p.b",
}


def expected_rows(conn, what: str) -> int:
    join = "facts f JOIN pairs p ON " if what == "in ON" else "facts f, pairs p WHERE "
    sql = f"SELECT f.w, p.v FROM {join}{BY_KEY[what]}"
    return next(n["Plan Rows"] for n in plan_of(conn, sql) if "Join" in str(n))


@pytest.mark.parametrize("key", ["PRIMARY KEY (a, b)", "UNIQUE (b, a)"])
def test_unique_keys(conn, am, key):
    """A join by all columns of a unique index is expected to find a row for each."""
    conn.execute(KEYED.format(am=am, key=key))
    assert 15000 < expected_rows(conn, "both") < 25000
    assert 5000 < expected_rows(conn, "in ON") < 25000
    assert expected_rows(conn, "one") < 1000
    conn.execute(f"SET {am}.enable_robust_joins = off")
    assert expected_rows(conn, "both") < 1000


@pytest.mark.parametrize(
    "key", ["CHECK (v >= 0)", "UNIQUE (a, b, v)", "UNIQUE (a, b) DEFERRABLE"]
)
def test_keys_that_are_not_unique(conn, am, key):
    """Without such an index, or with one of more columns, it is as on heap."""
    conn.execute(KEYED.format(am=am, key=key))
    conn.execute("CREATE UNIQUE INDEX ON pairs (a, b) WHERE v > 10")
    conn.execute("CREATE UNIQUE INDEX ON pairs (a, (b + 0))")
    assert expected_rows(conn, "both") < 1000


@pytest.mark.parametrize("tables", ["few f, pairs p", "pairs p, few f"])
def test_unique_keys_of_both_sides(conn, am, tables):
    """No more rows match than the smaller side has, in whichever order they stand."""
    conn.execute(KEYED.format(am=am, key="PRIMARY KEY (a, b)"))
    conn.execute(f"CREATE TABLE few (a int, b int, w int, UNIQUE (a, b)) USING {am}")
    conn.execute("INSERT INTO few SELECT i / 10, i, i FROM generate_series(0, 299) i")
    conn.execute("ANALYZE few")
    sql = f"SELECT f.w, p.v FROM {tables} WHERE f.a = p.a AND f.b = p.b"
    rows = next(n["Plan Rows"] for n in plan_of(conn, sql) if "Join" in str(n))
    assert 100 < rows < 1000


@pytest.mark.parametrize("exists", ["EXISTS", "NOT EXISTS"])
def test_a_unique_key_does_not_say_that_there_is_a_match(conn, am, exists):
    conn.execute(KEYED.format(am=am, key="PRIMARY KEY (a, b)"))
    conn.execute("UPDATE facts SET a = -a, b = -b WHERE w > 5000; ANALYZE facts")
    sql = (
        f"SELECT f.w FROM facts f WHERE {exists}"
        " (SELECT FROM pairs p WHERE f.a = p.a AND f.b = p.b)"
    )
    rows = next(n["Plan Rows"] for n in plan_of(conn, sql) if "Join" in str(n))
    conn.execute(f"SET {am}.enable_robust_joins = off")
    plain = next(n["Plan Rows"] for n in plan_of(conn, sql) if "Join" in str(n))
    assert plain / 2 < rows < plain * 2


def test_a_turned_join_begins_behind_its_probe_side(conn, am):
    """Its rows come last, so a LIMIT spares nothing of what is below it."""
    conn.execute(KEYED.format(am=am, key="CHECK (v >= 0)"))
    conn.execute(f"CREATE TABLE few (v int) USING {am}")
    conn.execute("INSERT INTO few SELECT i FROM generate_series(1, 2000) i")
    conn.execute("ANALYZE few; SET enable_mergejoin = off; SET enable_nestloop = off")
    sql = "SELECT w.v FROM few w WHERE EXISTS (SELECT FROM pairs p WHERE p.v = w.v)"
    join = next(n for n in plan_of(conn, sql) if n.get("Join Type") == "Right Semi")
    probe = join["Plans"][0]
    assert join["Startup Cost"] > 2 * (probe["Total Cost"] - probe["Startup Cost"]) / 3


def test_far_fetches(conn, am):
    """A fetch costs more where a session cannot keep what it unpacks of all row groups and
    rows do not follow each other; only colcompress unpacks vectors for it."""
    columns = "bcdefghij"
    conn.execute(
        f"CREATE TABLE wide (id int PRIMARY KEY, a int UNIQUE, {' bigint, '.join(columns)}"
        f" bigint) USING {am};"
        f"INSERT INTO wide SELECT i, i * 7919 % 100003, {', '.join('i' * len(columns))}"
        " FROM generate_series(1, 50000) i; ANALYZE wide"
    )

    def cost(key: str) -> float:
        (node,) = plan_of(
            conn, f"SELECT {', '.join(columns)} FROM wide WHERE {key} = 5"
        )
        return node["Total Cost"]

    before = cost("id"), cost("a")
    conn.execute(
        "UPDATE pg_class SET reltuples = reltuples * 1000 WHERE oid = 'wide'::regclass"
    )
    ordered, scattered = (
        now - then for now, then in zip((cost("id"), cost("a")), before, strict=True)
    )
    assert (scattered - ordered > 4) == (am == "colcompress")


def test_workers_that_cost_are_no_more_than_processors(conn, am):
    """The leader works, too."""
    conn.execute(TABLES.format(am=am))
    conn.execute(
        "UPDATE pg_class SET reltuples = reltuples * 10000 WHERE oid = 'sales'::regclass;"
        "SET max_parallel_workers_per_gather = 1000; SET parallel_tuple_cost = 0"
    )
    sql = "SELECT kind, sum(v * k) FROM sales WHERE v * k > 3 GROUP BY 1"

    def planned() -> list[int]:
        return [
            n["Workers Planned"] for n in plan_of(conn, sql) if "Workers Planned" in n
        ]

    busy = max(1, (os.cpu_count() or 1) - 1)
    assert planned() == [busy]
    conn.execute("SET parallel_setup_cost = 0")
    (workers,) = planned()
    assert workers > busy


def test_parallel_runs_use_memory_again(conn, am):
    """Each outer row has another parallel run, which the LIMIT ends."""
    conn.execute(
        f"CREATE TABLE facts (k int) USING {am};"
        "INSERT INTO facts SELECT i % 20000 FROM generate_series(1, 100000) i;"
        "ANALYZE facts; SET enable_material = off;"
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET cpu_operator_cost = 0;"
        "SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 1;"
        "CREATE FUNCTION memory_used(int) RETURNS bigint LANGUAGE plpgsql"
        " PARALLEL RESTRICTED AS 'BEGIN"
        " RETURN (SELECT sum(used_bytes) FROM pg_backend_memory_contexts); END'"
    )
    sql = """SELECT memory_used(g) FROM generate_series(1, 20) g LEFT JOIN
        (SELECT k + 1, count(*) FROM facts GROUP BY 1 LIMIT 1) s ON true"""
    assert "by partitions" in [n.get("Aggregation") for n in plan_of(conn, sql)]
    used = [row[0] for row in conn.execute(sql).fetchall()]
    # A run may be the first in which the leader finds something to do: 8 kB, once.
    assert statistics.median(b - a for a, b in itertools.pairwise(used)) < 200
    assert used[-1] - used[2] < 12_000
