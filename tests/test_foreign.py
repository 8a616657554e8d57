"""Beyond one machine: postgres_fdw over clusters, partitions of several kinds."""

from __future__ import annotations

import pytest
from strata import examples
from strata.twin import Twin, same_rows

BULK = 6_000

ROW = "i, date '2024-01-01' + i % 360, i % 13, (i % 1000)::numeric / 8, 'v' || i % 29"
COLUMNS = "id int, d date, k int, amount numeric, v text"


@pytest.fixture
def two_clusters(make_cluster, server, am):
    """A shard and a coordinator whose foreign partitions live on the shard."""
    if not server.has_extension("postgres_fdw"):
        pytest.skip("postgres_fdw is not installed")
    shard, front = make_cluster("shard"), make_cluster("front")
    with shard.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        for name in ("c0", "c1"):
            conn.execute(f"CREATE TABLE {name} ({COLUMNS}) USING {am}")
    with front.connect() as conn:
        conn.execute("CREATE EXTENSION postgres_fdw")
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(
            "CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS"
            f" (host '{shard.socket}', dbname 'postgres', async_capable 'true')"
        )
        conn.execute(
            "CREATE USER MAPPING FOR postgres SERVER shard OPTIONS (user 'postgres')"
        )
        conn.execute(f"CREATE TABLE ours ({COLUMNS}) PARTITION BY HASH (id)")
        conn.execute(f"CREATE TABLE plain ({COLUMNS}) USING heap")
        for number in (0, 1):
            conn.execute(
                f"CREATE FOREIGN TABLE part{number} PARTITION OF ours FOR VALUES WITH"
                f" (MODULUS 3, REMAINDER {number}) SERVER shard OPTIONS (table_name 'c{number}')"
            )
        conn.execute(
            "CREATE TABLE part2 PARTITION OF ours FOR VALUES WITH (MODULUS 3, REMAINDER 2)"
            f" USING {am}"
        )
        yield shard, conn


def plan(conn, query: str) -> str:
    rows = conn.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {query}").fetchall()
    return "\n".join(line for (line,) in rows)


def test_foreign_partitions(two_clusters, am):
    """Rows and aggregates over foreign and local partitions are a heap table's;
    the foreign side is asked for aggregates and scanned asynchronously."""
    shard, conn = two_clusters

    def both(sql: str) -> None:
        for table in ("ours", "plain"):
            conn.execute(sql.format(t=table))

    both(f"INSERT INTO {{t}} SELECT {ROW} FROM generate_series(1, {BULK}) i")
    with shard.connect() as remote:
        # Rows came one by one, into the delta: bring those of one table together.
        remote.execute("CREATE TABLE rows USING heap AS SELECT * FROM c0")
        remote.execute("TRUNCATE c0")
        remote.execute("INSERT INTO c0 SELECT * FROM rows")
        groups = remote.execute(f"SELECT count(*) FROM {am}.row_groups('c0')")
        assert groups.fetchone()[0] > 0
    both("UPDATE {t} SET v = 'updated' WHERE id % 7 = 3")
    both("DELETE FROM {t} WHERE id % 5 = 1")
    both("INSERT INTO {t} VALUES (-1, '2024-02-02', 1, NULL, NULL)")

    queries = [
        "SELECT * FROM {t}",
        "SELECT count(*), sum(amount), avg(k), min(d), max(v) FROM {t}",
        "SELECT k, count(*), sum(amount) FROM {t} WHERE d >= '2024-06-01' GROUP BY k",
        "SELECT v, count(DISTINCT k) FROM {t} GROUP BY v",
        "SELECT id, count(*), sum(amount) FROM {t} GROUP BY id",
        "SELECT a.id FROM {t} a JOIN {t} b ON a.id = b.k WHERE b.d < '2024-01-20'",
        "SELECT id FROM {t} WHERE id = ANY (ARRAY[1, 2, 3, 4, 5, 4711])",
    ]
    for switch in ("off", "on"):
        conn.execute(f"SET enable_partitionwise_aggregate = {switch}")
        for query in queries:
            ours, plain = (
                conn.execute(query.format(t=table)).fetchall()
                for table in ("ours", "plain")
            )
            same_rows(ours, plain, f"{query}, partitionwise aggregation {switch}")
    grouped = "SELECT id, count(*) FROM ours GROUP BY id"
    assert "Remote SQL: SELECT id, count(*)" in plan(conn, grouped)
    conn.execute("RESET enable_partitionwise_aggregate")
    assert "Async Foreign Scan" in plan(
        conn, "SELECT sum(amount) FROM ours WHERE k < 9"
    )


def test_aging_partitions(db, conn, am):
    """Partitions move from one access method to another while others are used."""
    conn.execute(f"CREATE TABLE m ({COLUMNS}) PARTITION BY RANGE (d)")
    conn.execute("CREATE INDEX ON m (id)")
    for month in range(1, 7):
        conn.execute(
            f"CREATE TABLE m{month} PARTITION OF m FOR VALUES"
            f" FROM ('2024-{month:02}-01') TO ('2024-{month + 1:02}-01') USING heap"
        )
    fill = f"INSERT INTO m SELECT {ROW.replace('360', '180')} FROM generate_series(1, {BULK}) i"
    conn.execute(fill)
    query = (
        "SELECT date_trunc('month', d), v, count(*), sum(amount), min(k), max(id)"
        " FROM m GROUP BY 1, 2 ORDER BY 1, 2"
    )
    expected = conn.execute(query).fetchall()
    other = db.connect()
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT count(*) FROM m6")
    for month in range(1, 6):
        conn.execute(f"ALTER TABLE m{month} SET ACCESS METHOD {am}")
        for switch in ("off", "on"):
            conn.execute(f"SET enable_partitionwise_aggregate = {switch}")
            assert conn.execute(query).fetchall() == expected
    assert other.execute("SELECT count(*) FROM m6").fetchone()[0] > 0
    other.execute("COMMIT")
    lookup = conn.execute("SELECT * FROM m WHERE id = 4242").fetchall()
    assert len(lookup) == 1
    # A row moves between partitions of different access methods.
    conn.execute("UPDATE m SET d = '2024-06-15' WHERE id = 4242")
    conn.execute("UPDATE m SET d = '2024-01-15' WHERE id = 4243")
    assert conn.execute(
        "SELECT id, tableoid::regclass::text FROM m WHERE id IN (4242, 4243) ORDER BY 1"
    ).fetchall() == [(4242, "m6"), (4243, "m1")]
    conn.execute("ALTER TABLE m1 SET ACCESS METHOD heap")
    assert conn.execute("SELECT count(*) FROM m").fetchone() == (BULK,)


def test_inheritance_of_mixed_methods(twin: Twin):
    """One tree of tables, some ours and some heap, beside one of heap alone."""
    twin.ok("CREATE TABLE top (a int, b text)")
    twin.ok("CREATE TABLE middle (c int) INHERITS (top)")
    twin.ok("CREATE TABLE low (d int) INHERITS (middle) USING heap")
    twin.ok(f"INSERT INTO top SELECT i, 'top' FROM generate_series(1, {BULK}) i")
    twin.ok(
        f"INSERT INTO middle SELECT i, 'middle', i % 9 FROM generate_series(1, {BULK}) i"
    )
    twin.ok("INSERT INTO low SELECT i, 'low', i % 9, i FROM generate_series(1, 500) i")
    twin.ok("UPDATE top SET b = b || '!' WHERE a % 10 = 0")
    twin.ok("DELETE FROM top WHERE a % 11 = 0")
    twin.same("SELECT b, count(*), sum(a) FROM top GROUP BY b")
    twin.same("SELECT * FROM middle WHERE c = 3")
    twin.same("SELECT * FROM ONLY top WHERE a < 100")
    twin.ok("ALTER TABLE top ADD COLUMN e int DEFAULT 7")
    twin.same("SELECT e, count(*) FROM top GROUP BY e")


def test_example_of_the_documents(make_cluster, server):
    """docs/distributed.md, on two servers."""
    if not server.has_extension("postgres_fdw"):
        pytest.skip("postgres_fdw is not installed")
    clusters = {name: make_cluster(name) for name in ("shard", "front")}
    host = f"host '{clusters['shard'].socket}'"
    conns = {name: cluster.connect() for name, cluster in clusters.items()}
    compared = sum(
        examples.run(conns[where], block, lambda sql: sql.replace("host 'shard'", host))
        for where, block in examples.blocks(
            "distributed.md", "Partitions on other servers"
        )
    )
    assert compared == 3
    for conn in conns.values():
        conn.close()
