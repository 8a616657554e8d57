"""Other people's extensions beside ours: one test each, on tables of each store.

ci/setup.sh installs what Debian has for the server; what is not there is skipped.
"""

from __future__ import annotations

import contextlib
import json

import psycopg
import pytest
from strata.wait import wait_until

# What has to be preloaded, where the server has it.
PRELOADED = [
    "timescaledb", "pg_cron", "pg_stat_statements", "auto_explain", "pgaudit", "pglogical",
]  # fmt: skip
OURS = ["colcompress", "rowcompress", "sorted_heap", "zson_dict"]
ROWS = 6_000


@pytest.fixture(scope="module")
def neighbours(make_module_cluster, server):
    """A server with every neighbour that wants to be preloaded."""
    present = [name for name in PRELOADED if (server.pkglibdir / f"{name}.so").exists()]
    settings = {
        "shared_preload_libraries": ", ".join(present),
        "wal_level": "logical",
        "max_worker_processes": "20",
    }
    if "pg_cron" in present:
        settings |= {
            "cron.database_name": "postgres",
            "cron.use_background_workers": "on",
        }
    if "timescaledb" in present:
        settings["timescaledb.telemetry_level"] = "off"
    cluster = make_module_cluster("neighbours", **settings)
    with cluster.connect() as conn:
        for name in OURS:
            conn.execute(f"CREATE EXTENSION {name}")
    allow_output_plugins(cluster)
    return cluster


def allow_output_plugins(cluster) -> None:
    """Newer servers want them named."""
    with cluster.connect() as conn:
        (allowed,) = conn.execute(
            "SELECT current_setting('output_plugin_libraries', true)"
        ).fetchone()
        if allowed is not None:
            conn.execute(
                f"ALTER SYSTEM SET output_plugin_libraries = {allowed}, wal2json, pglogical_output"
            )
            conn.execute("SELECT pg_reload_conf()")


@pytest.fixture
def conn(neighbours):
    with neighbours.connect() as conn:
        yield conn


@pytest.fixture
def need(server, conn):
    """need("name"): that extension, created; the test is skipped without it."""

    def need(name: str) -> None:
        if not server.has_extension(name):
            pytest.skip(f"{name} is not installed")
        conn.execute("SET client_min_messages = error")
        conn.execute(f"CREATE EXTENSION IF NOT EXISTS {name} CASCADE")

    return need


@pytest.fixture
def both(conn, am):
    """Makes a table of ours and a heap table alike: both("t", columns, rows)."""
    made = []

    def both(name: str, columns: str, rows: str) -> None:
        for table, method in ((f"{name}_ours", am), (f"{name}_heap", "heap")):
            conn.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
            conn.execute(f"CREATE TABLE {table} ({columns}) USING {method}")
            made.append(table)
            conn.execute(f"INSERT INTO {table} {rows}")

    yield both
    for table in made:
        conn.execute(f"DROP TABLE IF EXISTS {table} CASCADE")


def same(conn, name: str, query: str, *statements: str) -> list[tuple]:
    """Statements on both, then the query, which must give the same; {t}: the table."""
    results = []
    for table in (f"{name}_ours", f"{name}_heap"):
        for statement in statements:
            conn.execute(statement.format(t=table))
        results.append(sorted(map(str, conn.execute(query.format(t=table)).fetchall())))
    assert results[0] == results[1], query
    assert results[0], query
    return results[0]


# ---- types and indexes ----

# extension: columns, rows, statements, queries; with and without an index scan
TYPES = {
    "citext": (
        "id int, v citext",
        "SELECT i, 'Value ' || i % 100 FROM generate_series(1, {n}) i",
        ["CREATE INDEX ON {t} (v)", "DELETE FROM {t} WHERE v = 'VALUE 7'"],
        ["SELECT * FROM {t} WHERE v = 'vALUE 8'", "SELECT v, count(*) FROM {t} GROUP BY v",
         "SELECT count(DISTINCT v), max(v) FROM {t}"],
    ),
    "hstore": (
        "id int, v hstore",
        "SELECT i, hstore('k' || i % 9, i::text) || 'all=>1' FROM generate_series(1, {n}) i",
        ["CREATE INDEX ON {t} USING gin (v)", "UPDATE {t} SET v = v || 'new=>2' WHERE id % 50 = 0"],
        ["SELECT id FROM {t} WHERE v ? 'new' AND v @> 'k5=>50'", "SELECT v -> 'all', count(*) FROM {t} GROUP BY 1",
         "SELECT id FROM {t} WHERE v ? 'new'"],
    ),
    "pg_trgm": (
        "id int, v text",
        "SELECT i, md5(i::text) || ' common' FROM generate_series(1, {n}) i",
        ["CREATE INDEX ON {t} USING gin (v gin_trgm_ops)", "CREATE INDEX ON {t} USING gist (v gist_trgm_ops)",
         "DELETE FROM {t} WHERE id % 3 = 0"],
        ["SELECT id FROM {t} WHERE v LIKE '%abc%'", "SELECT id FROM {t} WHERE v ~ 'f00|ba7'",
         "SELECT count(*) FROM {t} WHERE v % 'c4ca4238 common'"],
    ),
    "btree_gist": (
        "id int, r int4range, EXCLUDE USING gist (id WITH =, r WITH &&)",
        "SELECT i % 100, int4range(i, i + 1) FROM generate_series(1, {n}) i",
        ["DELETE FROM {t} WHERE id = 5"],
        ["SELECT * FROM {t} WHERE r && '[100, 200)' AND id < 50", "SELECT count(*) FROM {t}"],
    ),
    "hll": (
        "id int, h hll",
        "SELECT i, hll_add(hll_empty(), hll_hash_integer(i % 500)) FROM generate_series(1, {n}) i",
        ["UPDATE {t} SET h = hll_empty() WHERE id = 7"],
        ["SELECT id % 5, round(hll_cardinality(hll_union_agg(h))) FROM {t} GROUP BY 1",
         "SELECT hll_union_agg(h) FROM {t}"],
    ),
    "tdigest": (
        "id int, v float8",
        "SELECT i, i % 1000 FROM generate_series(1, {n}) i",
        ["DELETE FROM {t} WHERE id % 2 = 0"],
        ["SELECT round(tdigest_percentile(v, 100, 0.5)::numeric, -1) FROM {t}",
         "SELECT id % 3, tdigest_count(tdigest(v, 100)) FROM {t} GROUP BY 1"],
    ),
    "postgis": (
        "id int, g geometry(Point, 4326)",
        "SELECT i, ST_SetSRID(ST_MakePoint(i % 360 - 180, i % 170 - 85), 4326) FROM generate_series(1, {n}) i",
        ["CREATE INDEX ON {t} USING gist (g)", "DELETE FROM {t} WHERE id % 4 = 0"],
        ["SELECT id FROM {t} WHERE g && ST_MakeEnvelope(0, 0, 20, 20, 4326)",
         "SELECT count(*) FROM {t} WHERE ST_DWithin(g, ST_SetSRID(ST_MakePoint(5, 5), 4326), 30)",
         "SELECT ST_Extent(g)::text, count(*) FROM {t}"],
    ),
    "vector": (
        "id int, v vector(3)",
        "SELECT i, ARRAY[i % 10, i % 20, i % 30]::vector FROM generate_series(1, {n}) i",
        ["CREATE INDEX ON {t} USING hnsw (v vector_l2_ops)", "DELETE FROM {t} WHERE id % 4 = 0"],
        ["SELECT v <-> '[3,3,3]' FROM {t} ORDER BY 1 LIMIT 5", "SELECT avg(v), count(*) FROM {t}"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("extension", TYPES)
def test_types_and_indexes(conn, need, both, extension):
    need(extension)
    columns, rows, statements, queries = TYPES[extension]
    both("ty", columns, rows.format(n=ROWS))
    conn.execute("SET enable_seqscan = on")
    same(conn, "ty", queries[0], *statements)
    for scan in ("on", "off"):
        conn.execute(f"SET enable_seqscan = {scan}")
        for query in queries:
            same(conn, "ty", query)
    conn.execute("RESET enable_seqscan")


# ---- observers ----


def test_pg_stat_statements(conn, need, both):
    need("pg_stat_statements")
    both("ss", "id int, v text", f"SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
    conn.execute("SELECT pg_stat_statements_reset()")
    for _ in range(3):
        conn.execute("SELECT count(*), sum(id) FROM ss_ours WHERE id > 10")
    assert conn.execute(
        "SELECT calls, rows FROM pg_stat_statements WHERE query LIKE '%sum(id) FROM ss_ours%'"
    ).fetchall() == [(3, 3)]


def test_what_estimate_says_of_queries(conn, need, am):
    need("pg_stat_statements")
    conn.execute("DROP TABLE IF EXISTS est_seen, est_seen_not CASCADE")
    conn.execute(
        "CREATE TABLE est_seen USING heap AS"
        " SELECT i AS id, i % 7 AS n, md5(i::text) AS t FROM generate_series(1, 30000) i"
    )
    conn.execute("CREATE TABLE est_seen_not USING heap AS SELECT 1 AS id")
    conn.execute("CREATE INDEX ON est_seen (id)")
    conn.execute("VACUUM ANALYZE est_seen")
    conn.execute("SELECT pg_stat_statements_reset()")
    for statement in (
        "SELECT n, count(*) FROM est_seen GROUP BY n",
        "SELECT t FROM Est_Seen WHERE id = 7",
        "SELECT * FROM est_seen WHERE id = 8",
        "UPDATE est_seen SET n = 1 WHERE id = 9",
        "UPDATE est_seen SET n = n WHERE id < 5000",
        "DELETE FROM est_seen WHERE id = 10",
        "SELECT count(*) FROM est_seen_not",
    ):
        conn.execute(statement)
    found = conn.execute(
        f"SELECT name, bytes_now, detail FROM {am}.estimate('est_seen', seconds => 0)"
        " WHERE what = 'query'"
    ).fetchall()
    conn.execute("DROP TABLE est_seen, est_seen_not")
    assert sorted(
        (name, detail.split(": ")[-1]) for name, _, detail in found
    ) == sorted(
        [
            ("gains", "SELECT n, count(*) FROM est_seen GROUP BY n"),
            ("even", "SELECT t FROM Est_Seen WHERE id = $1"),
            (
                "loses" if am == "colcompress" else "even",
                "SELECT * FROM est_seen WHERE id = $1",
            ),
            ("loses", "UPDATE est_seen SET n = $1 WHERE id = $2"),
            ("even", "UPDATE est_seen SET n = n WHERE id < $1"),
            ("loses", "DELETE FROM est_seen WHERE id = $1"),
        ]
    )
    assert max(found, key=lambda row: row[0] == "gains")[1] > 1_000_000
    assert all(detail.startswith("1 calls, ") for _, _, detail in found)


def test_auto_explain(conn, neighbours, need, both, server):
    if not (server.pkglibdir / "auto_explain.so").exists():
        pytest.skip("auto_explain is not installed")
    both("ae", "id int, v text", f"SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
    start = neighbours.log_size()
    conn.execute(
        "SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;"
        " SET auto_explain.log_verbose = on"
    )
    conn.execute("SELECT sum(id) FROM ae_ours WHERE id > 5")
    conn.execute("RESET auto_explain.log_min_duration")
    assert "Aggregate)" in neighbours.log_since(start)


def test_pgaudit(conn, neighbours, need, both):
    need("pgaudit")
    both("au", "id int, v text", f"SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
    conn.execute("SET pgaudit.log = 'read, write'; SET pgaudit.log_relation = on")
    start = neighbours.log_size()
    conn.execute("SELECT sum(id) FROM au_ours")
    conn.execute("DELETE FROM au_ours WHERE id = 5")
    conn.execute("RESET pgaudit.log")
    log = neighbours.log_since(start)
    assert "READ,SELECT,TABLE,public.au_ours" in log
    assert "WRITE,DELETE,TABLE,public.au_ours" in log


def test_hypopg(conn, need, both):
    need("hypopg")
    both("hy", "id int, v text", f"SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
    conn.execute("ANALYZE hy_ours")
    conn.execute("SELECT hypopg_create_index('CREATE INDEX ON hy_ours (id)')")
    plan = conn.execute("EXPLAIN SELECT * FROM hy_ours WHERE id = 5").fetchall()
    assert "hy_ours" in str(plan)
    assert same(conn, "hy", "SELECT * FROM {t} WHERE id = 5")
    conn.execute("SELECT hypopg_reset()")


def test_plpgsql_check(conn, need, both):
    need("plpgsql_check")
    both("pc", "id int, v text", f"SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
    conn.execute(
        "CREATE OR REPLACE FUNCTION pc() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE r record;"
        " BEGIN FOR r IN SELECT sum(id) AS s FROM pc_ours LOOP RETURN r.s; END LOOP; END $$"
    )
    assert conn.execute("SELECT * FROM plpgsql_check_function('pc()')").fetchall() in (
        [], [("error:2F005:control reached end of function without RETURN",)],
        [("warning extra:2F005:control reached end of function without RETURN",)],
    )  # fmt: skip
    for (signature,) in conn.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_language l ON l.oid = prolang"
        " JOIN pg_namespace n ON n.oid = pronamespace WHERE lanname = 'plpgsql'"
        " AND nspname IN ('colcompress', 'rowcompress', 'sorted_heap', 'zson_dict')"
        " AND prorettype <> 'trigger'::regtype"
    ).fetchall():
        found = conn.execute(
            "SELECT * FROM plpgsql_check_function(%s::regprocedure, other_warnings => false,"
            " extra_warnings => false)", [signature]
        ).fetchall()  # fmt: skip
        # dynamic statements name relations of Citus and pg_cron that are not there
        assert not any(line.startswith("error:42P02") for (line,) in found), found


# ---- maintenance ----


def test_pg_prewarm(conn, need, both):
    need("pg_prewarm")
    both(
        "pw",
        "id int, v text",
        f"SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i",
    )
    for mode in ("prefetch", "read", "buffer"):
        (blocks,) = conn.execute("SELECT pg_prewarm('pw_ours', %s)", [mode]).fetchone()
        assert blocks > 0
    same(conn, "pw", "SELECT count(*), sum(id) FROM {t}")


def test_pg_repack(conn, neighbours, need, both, server):
    need("pg_repack")
    if not (server.bindir / "pg_repack").exists():
        pytest.skip("pg_repack's program is not installed")
    both(
        "rp",
        "id int PRIMARY KEY, v text",
        f"SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i",
    )
    method = conn.execute(
        "SELECT relam FROM pg_class WHERE relname = 'rp_ours'"
    ).fetchone()
    conn.execute("DELETE FROM rp_ours WHERE id % 2 = 0")
    conn.execute("DELETE FROM rp_heap WHERE id % 2 = 0")
    before = same(conn, "rp", "SELECT * FROM {t}")
    done = neighbours.run(
        "pg_repack", "-d", "postgres", "-t", "rp_ours", "--no-kill-backend", check=False
    )
    assert done.returncode == 0, done.stderr
    assert same(conn, "rp", "SELECT * FROM {t}") == before
    assert method == conn.execute(
        "SELECT relam FROM pg_class WHERE relname = 'rp_ours'"
    ).fetchone()  # fmt: skip


def test_pg_partman(conn, am, need):
    need("pg_partman")
    schema = conn.execute(
        "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'pg_partman'"
    ).fetchone()[0]
    conn.execute("DROP TABLE IF EXISTS pm CASCADE")
    conn.execute("CREATE TABLE pm (id int, day date NOT NULL) PARTITION BY RANGE (day)")
    conn.execute(f"SET default_table_access_method = {am}")
    version = conn.execute(
        "SELECT split_part(extversion, '.', 1)::int FROM pg_extension WHERE extname = 'pg_partman'"
    ).fetchone()[0]
    kind = (
        "p_type => 'native', p_interval => 'daily'"
        if version < 5
        else "p_interval => '1 day'"
    )
    conn.execute(
        f"SELECT {schema}.create_parent(p_parent_table => 'public.pm', p_control => 'day', {kind})"
    )
    conn.execute(
        f"INSERT INTO pm SELECT i, current_date + i % 4 FROM generate_series(1, {ROWS}) i"
    )
    conn.execute(f"SELECT {schema}.run_maintenance('public.pm')")
    methods = conn.execute(
        "SELECT DISTINCT amname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid"
        " JOIN pg_am a ON a.oid = relam WHERE inhparent = 'pm'::regclass"
    ).fetchall()
    assert methods == [(am,)]
    conn.execute(
        f"SELECT {am}.set_policy('pm', compact_every => '0', schedule => NULL)"
    )
    conn.execute(f"CALL {am}.run_policies('pm')")
    runs = f"SELECT DISTINCT action, outcome FROM {am}.policy_runs"
    assert conn.execute(runs).fetchall() == [("merge", "done")]
    conn.execute(f"SELECT {am}.remove_policy('pm')")
    assert conn.execute("SELECT count(*), sum(id) FROM pm").fetchone() == (
        ROWS, ROWS * (ROWS + 1) // 2,
    )  # fmt: skip
    conn.execute("RESET default_table_access_method")
    conn.execute(f"DELETE FROM {schema}.part_config")
    conn.execute("DROP TABLE pm CASCADE")


def test_timescaledb(conn, am, need, both):
    """Chunks have the hypertable's access method; compression of its own, where the
    edition has it, takes a chunk to its own format and back."""
    need("timescaledb")
    both(
        "ts", "day timestamptz NOT NULL, k int, v text", "SELECT now(), 0, 'x' LIMIT 0"
    )
    for table in ("ts_ours", "ts_heap"):
        conn.execute(
            f"SELECT create_hypertable('{table}', 'day', chunk_time_interval => interval '1 day')"
        )
        conn.execute(
            f"INSERT INTO {table} SELECT timestamptz '2026-01-01' + i * interval '1 minute',"
            f" i % 7, md5(i::text) FROM generate_series(1, {ROWS}) i"
        )
    chunks = [
        chunk
        for (chunk,) in conn.execute("SELECT show_chunks('ts_ours')::text").fetchall()
    ]
    assert len(chunks) == 5
    methods = conn.execute(
        "SELECT DISTINCT amname FROM show_chunks('ts_ours') c JOIN pg_class p ON p.oid = c"
        " JOIN pg_am a ON a.oid = relam"
    ).fetchall()
    assert methods == [(am,)]
    groups = " + ".join(
        f"(SELECT count(*) FROM {am}.row_groups('{c}'))" for c in chunks
    )
    assert conn.execute(f"SELECT {groups}").fetchone()[0] >= 4
    queries = [
        "SELECT k, count(*), min(v), max(day) FROM {t} GROUP BY k",
        "SELECT time_bucket('6 hours', day) b, count(*), sum(k) FROM {t} GROUP BY b",
        "SELECT * FROM {t} WHERE day BETWEEN '2026-01-02' AND '2026-01-03' AND k = 3",
        "SELECT day, v FROM {t} ORDER BY day DESC LIMIT 10",
    ]
    changes = [
        "UPDATE {t} SET v = 'new' WHERE k = 2",
        "DELETE FROM {t} WHERE day < '2026-01-01 12:00'",
        "INSERT INTO {t} VALUES ('2026-02-01', 1, 'late')",
    ]
    for query in queries:
        same(conn, "ts", query)
    for change in changes:
        same(conn, "ts", "SELECT * FROM {t}", change)
    conn.execute(f"CALL {am}.merge('{chunks[1]}')")
    for query in queries:
        same(conn, "ts", query)
    drop = "SELECT drop_chunks('{t}', older_than => timestamptz '2026-01-02')"
    same(conn, "ts", "SELECT * FROM {t}", drop)
    try:
        conn.execute("ALTER TABLE ts_ours SET (timescaledb.compress)")
        conn.execute(f"SELECT compress_chunk('{chunks[1]}')")
    except psycopg.errors.FeatureNotSupported as refused:
        print("compression of TimescaleDB:", refused)
    for query in queries:
        same(conn, "ts", query)


@pytest.mark.slow
def test_pg_cron(conn, am, need):
    """A job is seen to have worked, and one whose table is gone to fail alone."""
    need("pg_cron")
    conn.execute(f"CREATE TABLE cr (id int, v text) USING {am}")
    conn.execute(f"SELECT {am}.set_options('cr', auto_compact => false)")
    for start in range(0, 3000, 100):
        conn.execute(
            f"INSERT INTO cr SELECT i, 'v' FROM generate_series({start}, {start + 99}) i"
        )
    delta = f"SELECT row_group_rows FROM {am}.table_info('cr')"
    assert conn.execute(delta).fetchone() == (0,)
    (job,) = conn.execute(f"SELECT {am}.schedule('cr', '* * * * *')").fetchone()
    assert conn.execute(f"SELECT jobid, relation::text FROM {am}.jobs").fetchall() == [
        (job, "cr")
    ]
    wait_until(lambda: conn.execute(delta).fetchone() == (3000,), "the job", 90)
    conn.execute(f"SELECT {am}.unschedule('cr')")
    assert conn.execute(f"SELECT * FROM {am}.jobs").fetchall() == []
    conn.execute("DROP TABLE cr")


JOBS = {
    "colcompress": "SELECT colcompress.schedule(%s, '0 3 * * *', true)",
    "rowcompress": "SELECT rowcompress.schedule(%s, '0 3 * * *', true)",
    "sorted_heap": "SELECT sorted_heap.schedule(%s, '0 3 * * *')",
    "zson_dict": "SELECT zson_schedule(%s, 'v', '0 3 * * *')",
}


def test_jobs_after_dump_and_restore(make_cluster, server):
    """They name tables: numbers are others' there."""
    if not server.has_extension("pg_cron"):
        pytest.skip("pg_cron is not installed")
    settings = {"shared_preload_libraries": "pg_cron", "cron.database_name": "postgres"}
    source, target = (make_cluster(name, **settings) for name in ("dumped", "restored"))
    with source.connect() as conn:
        for name in ("pg_cron", *OURS):
            conn.execute(f"CREATE EXTENSION {name}")
        conn.execute("CREATE SCHEMA \"a 'B'\"; SET search_path = \"a 'B'\", public")
        for name, schedule in JOBS.items():
            conn.execute("SET default_table_access_method = heap")
            if name != "zson_dict":
                conn.execute(f"SET default_table_access_method = {name}")
            conn.execute(
                f"CREATE TABLE {name}_t (id int, v {'zson' if name == 'zson_dict' else 'text'})"
            )
            conn.execute(
                f"INSERT INTO {name}_t SELECT i, '{{\"a\": 1}}' FROM generate_series(1, 900) i"
            )
            if name == "sorted_heap":
                conn.execute(f"CREATE INDEX ON {name}_t USING zonemap (id)")
            conn.execute(schedule, [f"{name}_t"])
    dump = source.run("pg_dump", "postgres").stdout
    with target.connect() as conn:
        # every table gets another number than it had
        conn.execute("CREATE TABLE other (id int)")
    target.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "postgres", input=dump)
    with target.connect() as conn:
        conn.execute("SET search_path = \"a 'B'\", public")
        for name in ("colcompress", "rowcompress"):
            assert conn.execute(
                f"SELECT relation::text FROM {name}.jobs"
            ).fetchall() == [(f"{name}_t",)]
        commands = conn.execute("SELECT command FROM cron.job").fetchall()
        assert len(commands) == len(JOBS)
        conn.execute("RESET search_path")
        for (command,) in commands:
            conn.execute(command)
        conn.execute("SET search_path = \"a 'B'\", public")
        for name in ("colcompress", "rowcompress"):
            assert conn.execute(
                f"SELECT row_group_rows FROM {name}.table_info('{name}_t')"
            ).fetchone() == (900,)
            # a table that is renamed is not found any more, its job is
            conn.execute(f"ALTER TABLE {name}_t RENAME TO renamed_{name}")
            assert conn.execute(f"SELECT relation FROM {name}.jobs").fetchall() == [
                (None,)
            ]
            conn.execute(f"ALTER TABLE renamed_{name} RENAME TO {name}_t")
        for name, undo in (
            ("colcompress", "colcompress.unschedule('colcompress_t')"),
            ("rowcompress", "rowcompress.unschedule('rowcompress_t')"),
            ("sorted_heap", "sorted_heap.unschedule('sorted_heap_t')"),
            ("zson_dict", "zson_unschedule('zson_dict_t', 'v')"),
        ):
            assert conn.execute(f"SELECT {undo}").fetchone() == (True,), name
            assert conn.execute(f"SELECT {undo}").fetchone() == (False,), name
        assert conn.execute("SELECT * FROM cron.job").fetchall() == []


# ---- decoding ----


def changes(conn, slot: str) -> list[dict]:
    found = []
    for (text,) in conn.execute(
        "SELECT data FROM pg_logical_slot_get_changes(%s, NULL, NULL, 'format-version', '2')",
        [slot],
    ).fetchall():
        found.append(json.loads(text))
    return found


def test_wal2json(conn, am, server):
    if not (server.pkglibdir / "wal2json.so").exists():
        pytest.skip("wal2json is not installed")
    conn.execute("DROP TABLE IF EXISTS wj")
    conn.execute(f"CREATE TABLE wj (id int PRIMARY KEY, v text) USING {am}")
    conn.execute("SELECT pg_create_logical_replication_slot('wj', 'wal2json')")
    try:
        conn.execute(
            f"INSERT INTO wj SELECT i, 'v' || i FROM generate_series(1, {ROWS}) i"
        )
        conn.execute("UPDATE wj SET v = 'new' WHERE id = 5")
        conn.execute("DELETE FROM wj WHERE id = 6")
        conn.execute(f"CALL {am}.merge('wj')")
        found = changes(conn, "wj")
        rows = [
            [column["value"] for column in change["columns"]]
            for change in found
            if change["action"] == "I"
        ]
        assert rows == [[i, f"v{i}"] for i in range(1, ROWS + 1)]
        assert [c["action"] for c in found if c["action"] not in "BCI"] == ["U", "D"]
    finally:
        conn.execute("SELECT pg_drop_replication_slot('wj')")
        conn.execute("DROP TABLE wj")


def test_pglogical(conn, am, need, neighbours, make_cluster, server):
    """From a table of ours to one of heap, with rows that were there before.

    (Of heap: pglogical changes its tables by heap's own functions.)
    """
    need("pglogical")
    allow_output_plugins(neighbours)
    other = make_cluster(
        "subscriber", wal_level="logical", shared_preload_libraries="pglogical",
        max_worker_processes="20",
    )  # fmt: skip
    conn.execute("DROP TABLE IF EXISTS pl CASCADE")
    table = "CREATE TABLE pl (id int PRIMARY KEY, v text) USING "
    conn.execute(table + am)
    conn.execute(f"INSERT INTO pl SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
    with contextlib.suppress(psycopg.Error):
        conn.execute("SELECT pglogical.create_node('provider', %s)", [neighbours.dsn()])
    conn.execute("SELECT pglogical.replication_set_add_table('default', 'pl')")
    with other.connect() as there:
        there.execute("CREATE EXTENSION pglogical")
        there.execute(table + "heap")
        there.execute("SELECT pglogical.create_node('subscriber', %s)", [other.dsn()])
        there.execute(
            "SELECT pglogical.create_subscription('s', %s)", [neighbours.dsn()]
        )
        count = "SELECT count(*), count(*) FILTER (WHERE v = 'new') FROM pl"
        wait_until(lambda: there.execute(count).fetchone() == (ROWS, 0), "the copy", 60)
        conn.execute(
            f"INSERT INTO pl SELECT i, 'late' FROM generate_series({ROWS + 1}, {2 * ROWS}) i"
        )
        conn.execute("UPDATE pl SET v = 'new' WHERE id % 100 = 0")
        conn.execute("DELETE FROM pl WHERE id % 100 = 1")
        expected = conn.execute(count).fetchone()
        wait_until(lambda: there.execute(count).fetchone() == expected, "changes", 60)
        there.execute("SELECT pglogical.drop_subscription('s')")
    conn.execute("SELECT pglogical.replication_set_remove_table('default', 'pl')")
    conn.execute("DROP TABLE pl")


def test_pglogical_as_subscriber(conn, am, need, neighbours, make_cluster):
    """It deletes rows by heap's own functions.  So all else arrives; a deletion of a
    row in a row group is an error, after which the table is sound."""
    need("pglogical")
    allow_output_plugins(neighbours)
    provider = make_cluster(
        "provider", wal_level="logical", shared_preload_libraries="pglogical",
        max_worker_processes="20",
    )  # fmt: skip
    allow_output_plugins(provider)
    conn.execute("DROP TABLE IF EXISTS ps CASCADE")
    table = "CREATE TABLE ps (id int PRIMARY KEY, v text) USING "
    conn.execute(table + am)
    query = "SELECT count(*), sum(id), count(*) FILTER (WHERE v = 'new') FROM ps"
    with provider.connect() as there:

        def arrived() -> bool:
            return conn.execute(query).fetchone() == there.execute(query).fetchone()

        there.execute("CREATE EXTENSION pglogical")
        there.execute(table + "heap")
        there.execute(f"INSERT INTO ps SELECT i, 'v' FROM generate_series(1, {ROWS}) i")
        there.execute("SELECT pglogical.create_node('there', %s)", [provider.dsn()])
        there.execute("SELECT pglogical.replication_set_add_table('default', 'ps')")
        with contextlib.suppress(psycopg.Error):
            conn.execute(
                "SELECT pglogical.create_node('provider', %s)", [neighbours.dsn()]
            )
        conn.execute(
            "SELECT pglogical.create_subscription('s_in', %s)", [provider.dsn()]
        )
        try:
            wait_until(arrived, "the copy", 60)
            there.execute(
                "INSERT INTO ps SELECT -i, 'w' FROM generate_series(1, 900) i"
            )
            wait_until(arrived, "inserts", 60)
            there.execute("UPDATE ps SET v = 'new' WHERE id % 100 = 0")
            there.execute("DELETE FROM ps WHERE id = -5")
            wait_until(arrived, "changes", 60)
            before, start = conn.execute(query).fetchone(), neighbours.log_size()
            there.execute(f"DELETE FROM ps WHERE id = {ROWS - 1}")
            wait_until(
                lambda: "target block" in neighbours.log_since(start), "the error", 60
            )
            assert conn.execute(query).fetchone() == before
            assert conn.execute(f"SELECT * FROM {am}.verify('ps')").fetchall() == []
        finally:
            conn.execute("SELECT pglogical.drop_subscription('s_in')")
    conn.execute("DROP TABLE ps")
