"""Set operations and unnest() in vectors, in places where they are not alone: below
joins, and run again with other parameters. Results are those of heap tables."""

from __future__ import annotations

import pytest
from test_keyed import plan_of

TABLES = """
CREATE TABLE {name} (id int, k bigint, n numeric, t text, i int[]) USING {am};
INSERT INTO {name} SELECT g, g % 900, g % 70, 'a,b' || g % 20, ARRAY[g, g % 50]
  FROM generate_series(1, 30000) g;
ANALYZE {name};
"""

FEW = """
CREATE TABLE few AS SELECT g::bigint AS k, ',' AS sep, ARRAY[g, 7] AS arr, g AS i
  FROM generate_series(1, 40) g;
ANALYZE few;
SET enable_nestloop = off;
SET enable_mergejoin = off;
"""

# The set operation is the larger side of the join; arms that are no plain scans.
JOINED = (
    "SELECT id::bigint AS k FROM {T} UNION SELECT k FROM {T}",
    "SELECT g::bigint AS k FROM generate_series(1, 40000) g UNION SELECT k FROM {T}",
    "SELECT max(id)::bigint AS k FROM {T} GROUP BY id INTERSECT SELECT id FROM {T}",
    "SELECT a.k FROM {T} a JOIN few f ON a.n = f.k EXCEPT SELECT k FROM {T} WHERE id < 900",
    "SELECT k FROM {T} UNION SELECT id FROM {T}",
)

AGAIN = (
    "SELECT few.i, (SELECT sum(x) FROM {T}, unnest({T}.i || few.i) x) FROM few WHERE few.i < 6",
    "SELECT few.i, s.* FROM few, LATERAL (SELECT x, count(*) FROM {T},"
    " unnest(string_to_array({T}.t, few.sep || repeat('b', few.i % 2))) x GROUP BY x) s"
    " WHERE few.i < 5",
    # nodes between the aggregation and what has the parameter
    "SELECT few.i, (SELECT count(x) FROM (SELECT upper(unnest(string_to_array({T}.t, ','))) AS x"
    " FROM {T} WHERE id < few.i * 100) s) FROM few WHERE few.i < 5",
    "SELECT few.i, (SELECT count(x) FROM (SELECT unnest({T}.i) AS x FROM {T}"
    " WHERE id < few.i * 100) s WHERE x > 3) FROM few WHERE few.i < 5",
    "SELECT few.i, (SELECT count(*) FROM (SELECT x FROM {T}, unnest({T}.i) x"
    " WHERE id < few.i * 100 OFFSET 0) s WHERE x > 3) FROM few WHERE few.i < 5",
    "SELECT few.i, (SELECT count(DISTINCT k + 1) FROM (SELECT k FROM (SELECT k, n + 1 AS n FROM {T}"
    " WHERE id < few.i * 100 OFFSET 0) s OFFSET 0) s) FROM few WHERE few.i < 5",
    "SELECT few.i, (SELECT count(*) FROM (SELECT k + 1 FROM (SELECT k FROM {T}"
    " WHERE id < few.i * 100 OFFSET 0) s INTERSECT SELECT k FROM {T}) s) FROM few WHERE few.i < 5",
    "SELECT few.i, (SELECT count(*) FROM (SELECT id FROM {T} WHERE id % 10 = few.i"
    " INTERSECT SELECT k FROM {T} WHERE k > few.i) s) FROM few WHERE few.i < 6",
)

# The keys that are asked for are wrong (the plan asks before it joins), and all
# groups do not fit in memory.
ON_DISK = (
    "SELECT count(*) FROM {T} o, {T} p WHERE o.k = p.k AND p.id = 7 AND o.id % 300 < 9 AND o.id <"
    " (SELECT 2 * avg(t.id) FROM {T} t WHERE t.k = o.k AND t.n = o.id % 70)"
)


@pytest.fixture
def tables(conn, am):
    for name, method in (("ours", am), ("twin", "heap")):
        conn.execute(TABLES.format(name=name, am=method))
    for statement in FEW.split(";"):
        if statement.strip():
            conn.execute(statement)
    return conn


def same(conn, query: str) -> None:
    ours, heap = (
        sorted(map(str, conn.execute(query.format(T=name)).fetchall()))
        for name in ("ours", "twin")
    )
    assert ours == heap


@pytest.mark.parametrize("query", JOINED)
def test_joined(tables, query):
    same(tables, f"SELECT s.k, f.sep FROM ({query}) s JOIN few f ON s.k = f.k")


@pytest.mark.parametrize("query", AGAIN)
def test_run_again(tables, query):
    same(tables, query)


@pytest.mark.parametrize("operation", ["INTERSECT", "EXCEPT ALL"])
def test_the_second_arm_is_spared(tables, operation):
    """Where the first one has no rows, nothing of it can matter."""

    def loops_of_second(where: str) -> int:
        plan = plan_of(
            tables,
            f"SELECT id::bigint FROM ours WHERE {where}"
            f" {operation} SELECT max(k) FROM ours GROUP BY id",
            ", ANALYZE",
        )
        [arms] = [n["Plans"] for n in plan if "Command" in n and "Plans" in n]
        return arms[1]["Actual Loops"]

    assert loops_of_second("id > 0") == 1
    assert loops_of_second("id < 0") == 0


def test_groups_of_asked_keys_on_disk(tables):
    tables.execute("SET work_mem = '64kB'")
    tables.execute("SET hash_mem_multiplier = 1")
    tables.execute("RESET enable_nestloop")
    same(tables, ON_DISK)
