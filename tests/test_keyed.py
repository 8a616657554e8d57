"""Correlated aggregates out of one grouped pass give the server's rows and errors."""

from __future__ import annotations

import json

import psycopg
import pytest
from strata.queries import share
from strata.timing import ends_soon
from test_vector_queries import (
    load_joins,
    same_rows,
    set_plan,
    show_text,
    switches,
    without_scale,
)

QUERIES = share(40)


def plan_of(conn, sql: str, options: str = "") -> list[dict]:
    """All nodes of the plan; options: of EXPLAIN, with a comma in front."""
    ((tree,),) = conn.execute(f"EXPLAIN (FORMAT json{options}) {sql}").fetchall()
    tree = json.loads(tree) if isinstance(tree, str) else tree
    found, todo = [], [tree[0]["Plan"]]
    while todo:
        node = todo.pop()
        found.append(node)
        todo += node.get("Plans", [])
    return found


def lookups(conn, am: str, sql: str, analyze: bool = False) -> list[dict]:
    options = ", ANALYZE, TIMING off, SUMMARY off" if analyze else ""
    name = f"{am.capitalize()}Lookup"
    return [
        n for n in plan_of(conn, sql, options) if n.get("Custom Plan Provider") == name
    ]


class Correlated:
    """Makes up correlated aggregates over table TBL, asked by rows of b."""

    AGGREGATES = (
        "sum(x.n)", "avg(x.n)", "count(*)", "count(x.t)", "min(x.t)", "max(x.d)",
        "min(x.n)", "count(DISTINCT x.k2)", "sum(x.k4) FILTER (WHERE x.k2 > 2)",
        "0.2 * avg(x.k4)", "coalesce(sum(x.k4), -1) + count(*)", "max(x.k8) - min(x.k4)",
        "count(*) + b.id", "CASE WHEN count(*) = 0 THEN b.t ELSE max(x.t) END",
        "sum(x.n * x.k4 - 1)", "count(*) FILTER (WHERE x.f > 1) * 2", "1 / count(*)",
    )  # fmt: skip
    KEYS = (
        "x.k8 = b.k8", "b.k4 = x.k4", "x.k8 = b.k4", "x.n = b.n", "x.f = b.f",
        "b.t = x.t", "x.d = b.d", "x.k4::numeric = b.n", "x.k8 = b.k8 + 3",
        "x.bp = b.v::bpchar", "x.c = lower(b.t) COLLATE nocase", "x.k2 = b.k4 - 3",
    )  # fmt: skip
    SOURCES = (
        "TBL x",
        "TBL x JOIN OTH y ON x.k8 = y.k4 AND y.id < 300",
        "(SELECT k8, k4, k2, n, f, t, c, bp, d FROM TBL WHERE k4 < 200) x",
        "(SELECT k8, k4, max(k2) AS k2, sum(n) AS n, max(f) AS f, t, c, bp, d FROM TBL"
        " GROUP BY k8, k4, t, c, bp, d) x",
        "cte x",
        "seen x",
        "once x",
    )
    REST = (
        "x.k4 < 120", "x.t LIKE 'x1%'", "x.d > '2020-01-05'", "x.k2 IN (1, 3, 5)",
        "x.n IS NOT NULL", "EXISTS (SELECT FROM OTH o WHERE o.k4 = x.k4)", "false",
        "x.k8 IN (SELECT k8 FROM OTH)", "x.k4 + 1 > 40", "x.k4 > b.id",
    )  # fmt: skip

    def __init__(self, rng):
        self.rng = rng

    def subquery(self) -> str:
        rng = self.rng
        quals = rng.sample(self.KEYS, rng.choice((1, 1, 1, 2)))
        quals += rng.sample(self.REST, rng.choice((0, 0, 1, 2)))
        rng.shuffle(quals)
        return (
            f"(SELECT {rng.choice(self.AGGREGATES)} FROM {rng.choice(self.SOURCES)}"
            f" WHERE {' AND '.join(quals)})"
        )

    def query(self) -> str:
        sub = self.subquery()
        query = self.rng.choice((
            f"SELECT b.id, {sub} FROM OTH b",
            f"SELECT b.id FROM OTH b WHERE {sub} IS NOT NULL",
            f"SELECT b.k4, count({sub}) FROM OTH b WHERE b.id % 3 = 0 GROUP BY 1",
            f"SELECT b.id, CASE WHEN b.k4 > 40 THEN {sub} END FROM OTH b",
            f"SELECT b.id, {sub}, {self.subquery()} FROM OTH b WHERE b.id < 200",
            f"SELECT b.id, {sub} FROM OTH b WHERE b.id < 25",
            f"SELECT b.id, c.id FROM OTH b JOIN OTH c ON b.k8 = c.k8 AND c.id < 40"
            f" WHERE {sub} IS NOT NULL",
            f"SELECT b.id, {sub} FROM OTH b WHERE b.k4 IN"
            " (SELECT c.k4 FROM OTH c WHERE c.id < 30)",
            f"SELECT b.id, c.id FROM OTH b LEFT JOIN OTH c ON b.id = c.k4"
            f" AND c.id < 90 AND {sub} IS NOT NULL",
        ))  # fmt: skip
        return (
            "WITH cte AS (SELECT * FROM TBL WHERE k2 <> 4),"
            " once AS (SELECT * FROM TBL WHERE k2 < 6) "
            + query
            # so that nobody inlines it
            + " UNION ALL SELECT NULL FROM cte" * query.startswith("SELECT b.id FROM")
        )


def set_up(conn, am: str) -> None:
    load_joins(conn, am)
    for name in ("ours", "heap"):
        conn.execute(
            f"CREATE VIEW seen_{name} AS SELECT x.*, y.amount FROM {name} x"
            " LEFT JOIN b y ON x.k8 = y.id WHERE x.k4 < 250"
        )


def outcome(conn, sql: str):
    try:
        return without_scale(conn.execute(sql).fetchall())
    except psycopg.Error as error:
        return error.sqlstate


def is_same(one, two) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    return same_rows(one, two)


def test_queries(conn, am, rng):
    """Of tables, joins, views, CTEs and groups: as heap, whatever is on and off."""
    set_up(conn, am)
    show_text(conn)
    names = switches(conn, am)
    made = Correlated(rng)
    taken = done = 0
    # A few queries may all have plans of the server's.
    while done < QUERIES or (taken <= done / 6 and done < 5 * QUERIES):
        done += 1
        settings = set_plan(conn, rng, names)
        if rng.random() < 0.7:
            conn.execute(f"SET {am}.enable_keyed_subqueries = on")
            settings.append("keyed on")
        query = made.query()
        ours = query.replace("TBL", "ours").replace("OTH", rng.choice(("b", "b_ours")))
        ours = ours.replace("seen x", "seen_ours x")
        heap = (
            query.replace("TBL", "heap")
            .replace("OTH", "b")
            .replace("seen x", "seen_heap x")
        )
        taken += bool(lookups(conn, am, ours))
        rows, expected = outcome(conn, ours), outcome(conn, heap)
        assert is_same(rows, expected), "\n".join(
            [*settings, ours, str(rows)[:300], str(expected)[:300]]
        )
    assert taken > done / 6


TABLES = """CREATE TABLE t (k int, g int, x int, n numeric, s text) USING {am};
 INSERT INTO t SELECT i % 1000, i % 7, i, i * 0.5, 's' || i % 10
   FROM generate_series(1, 20000) i;
 CREATE TABLE o (id int, k int) USING {am};
 INSERT INTO o SELECT i, i % 1100 FROM generate_series(1, 3000) i;
 ANALYZE t; ANALYZE o"""

ASKED = "SELECT sum((SELECT avg(x) FROM t WHERE t.k = o.k)) FROM o"


def test_answered_by_key(conn, am):
    """All but the first calls, and the first key without rows, are looked up."""
    conn.execute(TABLES.format(am=am))
    (node,) = lookups(conn, am, ASKED, True)
    assert node["Groups"] == 1000
    assert node["Answered By Plan"] == node["Calls Before Grouping"] + 1
    # the last 100 of 1,100 keys have no rows
    assert node["Answered By Key"] == 3000 - node["Calls Before Grouping"] - 200


def test_few_calls(conn, am):
    """An index serves the few calls that it is cheaper for, and no group is made."""
    conn.execute(TABLES.format(am=am))
    conn.execute("CREATE INDEX ON t (x)")
    sql = "SELECT sum((SELECT avg(n) FROM t WHERE t.x = o.id)) FROM o WHERE id < 5"
    (node,) = lookups(conn, am, sql, True)
    assert (node["Groups"], node["Answered By Plan"]) == (0, 4)


@pytest.mark.parametrize(
    "restricted",
    [
        "o WHERE o.id < 20",
        "o WHERE o.id BETWEEN 1 AND 19 AND o.k + 0 IS NOT NULL",
        "o JOIN o p ON o.k = p.k WHERE p.id < 20",
        "o WHERE o.k IN (SELECT p.k FROM o p WHERE p.id < 20)",
        "o JOIN (o p LEFT JOIN o q ON q.id = p.id AND q.k < 5) ON o.k = p.k"
        " WHERE p.id < 20",
    ],
)
def test_few_keys(conn, am, restricted):
    """Groups are made of the keys that the query around can ask for."""
    conn.execute(TABLES.format(am=am))
    conn.execute(f"CALL {am}.merge('t')")
    sql = f"SELECT count(*), sum((SELECT avg(x) FROM t WHERE t.k = o.k)) FROM {restricted}"
    (node,) = lookups(conn, am, sql, True)
    assert (node["Keys Looked For"], node["Groups"]) == (19, 19)
    assert node["Answered By Plan"] == 0
    rows = conn.execute(sql).fetchall()
    conn.execute(f"SET {am}.enable_keyed_subqueries = off")
    assert rows == conn.execute(sql).fetchall()


def test_few_keys_without_workers(conn, am):
    """The keys asked for are a filter that workers would know nothing of."""
    conn.execute(TABLES.format(am=am))
    conn.execute(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
        f"SET min_parallel_table_scan_size = 0; SET {am}.enable_vector_aggregate = off"
    )
    (node,) = lookups(conn, am, ASKED)
    assert "Gather" in json.dumps(node["Plans"][1])
    (node,) = lookups(conn, am, f"{ASKED} WHERE o.id < 20", True)
    assert "Gather" not in json.dumps(node["Plans"][1])
    assert node["Keys Looked For"] == 19


@pytest.mark.parametrize(
    "source",
    [
        "o FULL JOIN o p ON p.k = o.k AND p.id < 20",
        "o LEFT JOIN o p ON p.k = o.k AND p.id < 20",
    ],
)
def test_all_keys(conn, am, source):
    """A condition that rows need not meet does not say what is asked for."""
    conn.execute(TABLES.format(am=am))
    sql = f"SELECT count((SELECT avg(x) FROM t WHERE t.k = o.k)) FROM {source}"
    (node,) = lookups(conn, am, sql, True)
    assert "Keys Looked For" not in node
    assert node["Groups"] == 1000


def test_other_keys(conn, am):
    """Asked below the join that restricts the keys, the aggregate has all its rows."""
    conn.execute(TABLES.format(am=am))
    conn.execute("CREATE TABLE h AS SELECT id, id % 1000 AS k FROM o; ANALYZE h")
    sql = """SELECT count(*) FROM h o, o p WHERE p.k = o.k AND p.id < 20
      AND 100 / (SELECT count(*) FROM t WHERE t.k = o.k) > 4"""
    (node,) = lookups(conn, am, sql, True)
    assert (node["Keys Looked For"], node["Groups"]) == (19, 1000)
    assert conn.execute(sql).fetchall() == [(57,)]


NOT_TAKEN = {
    "volatile": "SELECT avg(x + random()) FROM t WHERE t.k = o.k",
    "error of a row": "SELECT sum(10 / (x - 5)) FROM t WHERE t.k = o.k",
    "error of a condition": "SELECT sum(x) FROM t WHERE t.k = o.k AND 10 / (x - 5) < 1",
    "overflow": "SELECT sum(x * 1000000) FROM t WHERE t.k = o.k",
    "cast": "SELECT sum(n) FROM t WHERE t.k = o.k AND s::varchar(20)::date > '2020-01-01'",
    "other correlation": "SELECT sum(x) FROM t WHERE t.k = o.k AND t.x > o.id",
    "no equality": "SELECT sum(x) FROM t WHERE t.k < o.k",
    "volatile key": "SELECT sum(x) FROM t WHERE t.n = o.k::numeric + random()::numeric",
    "key that may fail": "SELECT sum(x) FROM t WHERE t.k = 10 / o.k",
    "order": "SELECT string_agg(s, ',') FROM t WHERE t.k = o.k",
    "aggregate of the query above": "SELECT count(o.id) FROM t WHERE t.k = o.k",
    "grouped": "SELECT max(x) FROM t WHERE t.k = o.k GROUP BY t.k",
    "sample": "SELECT sum(x) FROM t TABLESAMPLE bernoulli (50) WHERE t.k = o.k",
}


@pytest.mark.parametrize("what", NOT_TAKEN)
def test_not_taken(conn, am, what):
    """What could be told from other keys' rows is left to the server."""
    conn.execute(TABLES.format(am=am))
    assert not lookups(
        conn, am, f"SELECT ({NOT_TAKEN[what]}) FROM o GROUP BY o.id, o.k"
    )
    assert lookups(conn, am, ASKED)


def test_errors_of_other_keys(conn, am):
    """A row that fails, and that nobody asks for, fails nobody."""
    conn.execute(TABLES.format(am=am))
    for name, expression in (
        ("argument", "sum(10 / (x - 5))"),
        ("derived", "sum(y) FROM (SELECT k, 10 / (x - 5) AS y FROM t OFFSET 0) t --"),
        ("plain", "sum(y) FROM (SELECT k, 10 / (x - 5) AS y FROM t) t --"),
    ):
        source = "" if "--" in expression else "FROM t"
        sql = f"SELECT count((SELECT {expression.replace('--', '')} {source} WHERE t.k = o.k)) FROM o WHERE o.k <> 5"
        conn.execute(f"SET {am}.enable_keyed_subqueries = on")
        on = outcome(conn, sql)
        conn.execute(f"SET {am}.enable_keyed_subqueries = off")
        assert on == outcome(conn, sql), name


def test_heap_only(conn, am):
    """Plans of other tables are what they were, also beside ours."""
    conn.execute(TABLES.format(am=am))
    conn.execute("CREATE TABLE h AS SELECT * FROM t; CREATE INDEX ON h (k)")
    conn.execute("SELECT count(*) FROM t")
    sql = ASKED.replace("FROM t ", "FROM h t ")
    nodes = plan_of(conn, sql, ", VERBOSE")
    assert not any("keyed" in json.dumps(n) or "Lookup" in json.dumps(n) for n in nodes)
    # through partitions with one of ours among them, it is taken
    conn.execute(
        "CREATE TABLE parts (k int, x int) PARTITION BY RANGE (k);"
        f"CREATE TABLE p1 PARTITION OF parts FOR VALUES FROM (0) TO (500) USING {am};"
        "CREATE TABLE p2 PARTITION OF parts FOR VALUES FROM (500) TO (2000) USING heap;"
        "INSERT INTO parts SELECT k, x FROM t; ANALYZE parts"
    )
    parts = ASKED.replace("FROM t ", "FROM parts t ")
    assert lookups(conn, am, parts)
    assert conn.execute(parts).fetchall() == conn.execute(sql).fetchall()


def test_changed_parameters(conn, am):
    """Groups of a CTE that depends on a row around it are made anew for each."""
    conn.execute(TABLES.format(am=am))
    sql = """SELECT a.g, l.total FROM (VALUES (1), (2), (5), (2)) a (g),
     LATERAL (WITH c AS MATERIALIZED (SELECT k, x FROM t WHERE t.g = a.g AND k < 300)
      SELECT sum((SELECT avg(x) FROM c i WHERE i.k = c.k)) AS total FROM c) l"""
    (node,) = lookups(conn, am, sql, True)
    assert node["Answered By Key"] > 0
    rows = conn.execute(sql).fetchall()
    conn.execute(f"SET {am}.enable_keyed_subqueries = off")
    assert rows == conn.execute(sql).fetchall()
    assert len({total for _, total in rows}) == 3


@pytest.mark.parametrize("key", ("x", "s", "n"))
def test_groups_on_disk(conn, am, key):
    """Groups that have no room in memory are found on disk, of all kinds of keys."""
    conn.execute(TABLES.format(am=am))
    conn.execute("UPDATE t SET s = 's' || x; ANALYZE t")
    conn.execute("CREATE TABLE k AS SELECT x, n, s, n * 2 AS v FROM t WHERE x % 3 = 0")
    conn.execute(
        "INSERT INTO k SELECT -x, -n, 'no' || x, NULL FROM k LIMIT 500; ANALYZE k"
    )
    conn.execute("INSERT INTO k VALUES (NULL, NULL, NULL, NULL)")
    sql = f"SELECT k.v, (SELECT max(n) FROM t WHERE t.{key} = k.{key}) * 2 FROM k"
    conn.execute("SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
    (node,) = lookups(conn, am, sql, True)
    assert node["Groups On Disk"] and node["Groups"] == 20000
    assert node["Memory"] < 256
    assert node["Answered By Key"] == 6666 - node["Calls Before Grouping"]
    rows = conn.execute(sql).fetchall()
    assert len(rows) == 7167
    assert all(one == two for one, two in rows)


def test_prepared(conn, am):
    """A cached plan sees other rows, another definition, and no table at all."""
    conn.execute(TABLES.format(am=am))
    conn.execute("SET plan_cache_mode = force_generic_plan")
    conn.execute(
        "PREPARE p (int) AS SELECT sum((SELECT count(*) FROM t WHERE t.k = o.k"
        " AND t.g < $1)) FROM o"
    )
    before = conn.execute("EXECUTE p (3)").fetchone()[0]
    assert conn.execute("EXECUTE p (0)").fetchone()[0] == 0
    conn.execute("DELETE FROM t WHERE k < 500")
    after = conn.execute("EXECUTE p (3)").fetchone()[0]
    assert 0 < after < before
    conn.execute("ALTER TABLE t ALTER k TYPE numeric")
    assert conn.execute("EXECUTE p (3)").fetchone()[0] == after
    conn.execute("DROP TABLE t")
    with pytest.raises(psycopg.errors.UndefinedTable):
        conn.execute("EXECUTE p (3)")


def test_changes(conn, am):
    """Commands that change the table that they ask see it as it was before them."""
    conn.execute(TABLES.format(am=am))
    conn.execute("CREATE TABLE h AS SELECT * FROM t; CREATE INDEX ON h (k)")
    sql = (
        "UPDATE {0} SET x = (SELECT sum(i.x) FROM {0} i WHERE i.k = {0}.k) WHERE g = 3"
    )
    assert lookups(conn, am, sql.format("t"))
    for name in ("t", "h"):
        conn.execute(sql.format(name))
    assert conn.execute("TABLE t EXCEPT ALL TABLE h").fetchall() == []
    sql = (
        "DELETE FROM {0} WHERE x > (SELECT 1.2 * avg(i.x) FROM {0} i WHERE i.k = {0}.k)"
    )
    assert lookups(conn, am, sql.format("t"))
    counts = {conn.execute(sql.format(name)).rowcount for name in ("t", "h")}
    assert len(counts) == 1 and counts != {0}


def test_hidden_rows(conn, am):
    """Row-level security and barriers: no function sees a row that is hidden."""
    conn.execute(TABLES.format(am=am))
    conn.execute(
        "CREATE TABLE seen (x int);"
        "CREATE FUNCTION tell(int) RETURNS bool LANGUAGE plpgsql COST 0.01 AS"
        " $$BEGIN INSERT INTO seen VALUES ($1); RETURN true; END$$;"
        "CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM t WHERE g = 1;"
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY p ON t USING (g < 3); CREATE ROLE keyed_reader;"
        "GRANT SELECT ON t, o, barrier TO keyed_reader; GRANT ALL ON seen TO keyed_reader"
    )
    owner = conn.execute(
        ASKED.replace("FROM t", "FROM (SELECT * FROM t WHERE g < 3) t")
    )
    expected = owner.fetchall()
    barrier = conn.execute(
        ASKED.replace("FROM t", "FROM (SELECT * FROM t WHERE g = 1) t")
    )
    try:
        conn.execute("SET ROLE keyed_reader")
        assert lookups(conn, am, ASKED)
        assert conn.execute(ASKED).fetchall() == expected
        through = ASKED.replace("FROM t ", "FROM barrier t ")
        assert lookups(conn, am, through)
        assert conn.execute(through).fetchall() == barrier.fetchall()
        leaky = ASKED.replace("t.k = o.k", "t.k = o.k AND tell(t.g)")
        conn.execute(leaky.replace("FROM t ", "FROM barrier t "))
        assert conn.execute("SELECT DISTINCT x FROM seen").fetchall() == [(1,)]
        conn.execute(
            "RESET ROLE; REVOKE SELECT ON t FROM keyed_reader; SET ROLE keyed_reader"
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(ASKED)
    finally:
        conn.execute("RESET ROLE; DROP OWNED BY keyed_reader; DROP ROLE keyed_reader")


def test_workers(conn, am):
    """The grouped pass may be a parallel one; workers are gone when it is over."""
    conn.execute(TABLES.format(am=am))
    expected = conn.execute(ASKED).fetchall()
    for setting in ("parallel_setup_cost = 0", "parallel_tuple_cost = 0",
                    "min_parallel_table_scan_size = 0",
                    f"{am}.enable_vector_aggregate = off"):  # fmt: skip
        conn.execute(f"SET {setting}")
    (node,) = lookups(conn, am, ASKED)
    grouped = node["Plans"][1]
    assert "Gather" in json.dumps(grouped)
    assert conn.execute(ASKED).fetchall() == expected


def test_cancelled(conn, am):
    """Grouping ends soon after it was cancelled."""
    conn.execute(TABLES.format(am=am))
    # the planner takes 57 million rows for 20,000
    conn.execute("ALTER TABLE t ALTER g SET (n_distinct = -1); ANALYZE t")
    sql = (
        "SELECT sum((SELECT sum(y.x) FROM t x JOIN t y ON x.g = y.g WHERE x.k = o.k))"
        " FROM o"
    )
    assert lookups(conn, am, sql)
    conn.execute("SET work_mem = '2MB'; SET statement_timeout = '100ms'")
    with ends_soon(conn, 1.1), pytest.raises(psycopg.errors.QueryCanceled):
        conn.execute(sql)
