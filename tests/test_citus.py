"""Distributed tables: Citus on a coordinator and two workers (`ci/citus.sh`).

What is compared is always a pair of distributed tables, one of ours and one of
heap, which see the same statements.  None of our libraries is preloaded but
where a test says so: shards load them when they are opened.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics

import psycopg
import pytest
from strata import examples
from strata.citus import Formation
from strata.threads import repeated
from strata.twin import HEAP, OURS, Session
from strata.wait import wait_until

from bench.compare import compare
from bench.engines import PostgresEngine
from bench.events import EVENTS_DATA, row_select

EXTENSIONS = ["colcompress", "rowcompress", "sorted_heap", "zson_dict"]
METHODS = EXTENSIONS[:3]
STORES = EXTENSIONS[:2]

# Enough for row groups in each of four shards.
BULK = 12_000
ROWS = (
    "SELECT i, i % 97, (i % 1000)::numeric / 8, 'v' || i % 29,"
    f" date '2026-01-01' + i % 360 FROM generate_series(1, {BULK}) i"
)


@pytest.fixture(scope="module", autouse=True)
def _citus(server):
    if not server.has_extension("citus"):
        pytest.skip("Citus is not installed: ci/citus.sh runs this file beside it")


@pytest.fixture(scope="module")
def formation(make_module_cluster):
    """Citus preloaded, ours not."""
    nodes = [
        make_module_cluster(name, start=False)
        for name in ("coordinator", "worker1", "worker2")
    ]
    formation = Formation(nodes, "citus")
    formation.join(EXTENSIONS, "dist")
    with formation.connect() as conn:
        for extension in ("postgres_fdw", "citus_columnar"):
            conn.execute(f"CREATE EXTENSION {extension}")
    return formation


@pytest.fixture
def schemas(formation):
    """Empty schemas ours and heap; gone at the end with all that is in them."""
    with formation.connect() as conn:
        conn.execute(f"CREATE SCHEMA {OURS}; CREATE SCHEMA {HEAP}")
    yield formation
    # another session: a worker may have been killed, and Citus keeps connections
    with formation.connect() as conn:
        conn.execute("SET client_min_messages = error")
        for schema in (OURS, HEAP):
            conn.execute(f"DROP SCHEMA {schema} CASCADE")


class DistributedTwin(Session):
    """Sessions of both schemas on the coordinator."""

    def __init__(self, formation: Formation, am: str) -> None:
        super().__init__(formation, am)
        self.formation, self.am = formation, am
        for conn in self.conns.values():
            conn.execute("SET statement_timeout = '3min'")

    def distribute(self, table: str, column: str = "id") -> None:
        for schema, conn in self.conns.items():
            conn.execute(
                "SELECT create_distributed_table(%s, %s, colocate_with => %s)",
                [table, column, f"{schema}.first" if table != "first" else "none"],
            )

    def events(self, *, load: bool = True) -> None:
        """A reference table and a distributed one that refers to it."""
        self.ok("CREATE TABLE kinds (k int PRIMARY KEY, name text)")
        for conn in self.conns.values():
            conn.execute("SELECT create_reference_table('kinds')")
        self.ok(
            "INSERT INTO kinds SELECT i, 'kind ' || i FROM generate_series(0, 96) i"
        )
        self.ok("CREATE TABLE first (id bigint PRIMARY KEY)")
        self.distribute("first")
        self.ok(
            "CREATE TABLE t (id bigint, k int, amount numeric, v text, day date,"
            " PRIMARY KEY (id))"
        )
        self.distribute("t")
        self.ok("ALTER TABLE t ADD FOREIGN KEY (k) REFERENCES kinds (k)")
        self.ok("CREATE INDEX t_v ON t (v)")
        if load:
            self.ok(f"INSERT INTO t {ROWS}")

    def shards(self, table: str = "t") -> list[tuple]:
        """Shard number, name on its node, port's directory."""
        return self.ours.execute(
            "SELECT shardid, shard_name, nodename FROM citus_shards"
            " WHERE table_name = %s::regclass ORDER BY 1",
            [table],
        ).fetchall()

    def gather(self, home: str, table: str = "t") -> None:
        """Move all shards to one node, and those of tables that go with them."""
        for number, _, node in self.shards(table):
            if node != home:
                self.ours.execute(
                    "SELECT citus_move_shard_placement(%s, %s, 5432, %s, 5432,"
                    " 'block_writes')",
                    [number, node, home],
                )

    def on_shards(self, command: str, table: str = "t") -> list[str]:
        rows = self.ours.execute(
            "SELECT success, result FROM run_command_on_shards(%s::regclass, %s)",
            [f"{OURS}.{table}", command],
        ).fetchall()
        assert rows and all(success for success, _ in rows), rows
        return [result for _, result in rows]

    def sound(self, table: str = "t") -> None:
        """Equal to heap, by the rows and by a hash made where the shards are."""
        self.check(table)
        if self.am in STORES:
            problems = self.on_shards(
                f"SELECT count(*) FROM {self.am}.verify('%s')", table
            )
            assert set(problems) == {"0"}


@pytest.fixture(params=METHODS)
def twin(schemas, request):
    twin = DistributedTwin(schemas, request.param)
    yield twin
    for conn in twin.conns.values():
        conn.close()


@pytest.fixture(params=STORES)
def store(schemas, request):
    twin = DistributedTwin(schemas, request.param)
    yield twin
    for conn in twin.conns.values():
        conn.close()


# ---- loading ----


def test_extensions_are_created_on_all_nodes(formation):
    versions = {
        node.directory: node.connect("dist")
        .execute(
            "SELECT extname, extversion FROM pg_extension WHERE extname = ANY (%s)"
            " ORDER BY 1",
            [EXTENSIONS],
        )
        .fetchall()
        for node in formation.nodes
    }
    assert len(versions) == 3
    expected = [(name, "1.1") for name in EXTENSIONS]
    assert all(found == expected for found in versions.values()), versions


def test_preloaded_after_citus(make_cluster):
    nodes = [make_cluster(name, start=False) for name in ("c", "w")]
    formation = Formation(nodes, ", ".join(["citus", *EXTENSIONS]))
    formation.join(EXTENSIONS, "dist")
    with formation.connect() as conn:
        conn.execute("CREATE EXTENSION citus_columnar")
        for method in METHODS:
            conn.execute(f"CREATE TABLE {method}_t (id int, v text) USING {method}")
            conn.execute(f"SELECT create_distributed_table('{method}_t', 'id')")
            conn.execute(
                f"INSERT INTO {method}_t SELECT i, 'v' FROM generate_series(1, 9000) i"
            )
        conn.execute(
            "CREATE TABLE z (id int, doc zson, d date) WITH (autovacuum_enabled = off)"
        )
        conn.execute("SELECT create_distributed_table('z', 'id')")
        conn.execute("""INSERT INTO z VALUES (1, '{"a": 1}')""")
    # Everything in one session of a node: slots of callbacks suffice.
    for node in formation.nodes:
        with formation.connect(node) as conn:
            for method in METHODS:
                assert conn.execute(f"SELECT sum(id) FROM {method}_t").fetchone() == (
                    40504500,
                )
            assert conn.execute("SELECT doc ->> 'a' FROM z").fetchone() == ("1",)
            conn.execute("CREATE TEMP TABLE c (a int) USING columnar")
            conn.execute("INSERT INTO c VALUES (1)")
            assert conn.execute("SELECT * FROM c").fetchall() == [(1,)]


def test_preloaded_before_citus(make_cluster):
    """Citus itself refuses whoever has hooked the planner before it."""
    with pytest.raises(RuntimeError, match="Citus has to be loaded first"):
        Formation([make_cluster("before", start=False)], "colcompress, citus")


def test_all_libraries_and_citus_in_one_session(schemas):
    """None preloaded, in every session of a node that uses them all."""
    with schemas.connect() as conn:
        conn.execute("SET search_path = ours, public")
        for number, method in enumerate(METHODS):
            conn.execute(f"CREATE TABLE t{number} (id int, doc zson) USING {method}")
            conn.execute(f"SELECT create_distributed_table('t{number}', 'id')")
        conn.execute("CREATE TABLE c (id int, v int) USING columnar")
        conn.execute("SELECT create_distributed_table('c', 'id')")
        for table in ("t0", "t1", "t2"):
            conn.execute(
                f"INSERT INTO {table} SELECT i, jsonb_build_object('a', i)::text::zson"
                " FROM generate_series(1, 5000) i"
            )
        conn.execute("INSERT INTO c SELECT i, i FROM generate_series(1, 5000) i")
        query = (
            "SELECT count(*), sum((t0.doc ->> 'a')::int), sum(c.v) FROM t0"
            " JOIN t1 USING (id) JOIN t2 USING (id) JOIN c USING (id)"
        )
        for _ in range(2):
            assert conn.execute(query).fetchone() == (5000, 12502500, 12502500)
            conn.execute("ALTER TABLE t1 ADD COLUMN IF NOT EXISTS more int")
            conn.execute("ALTER TABLE t0 SET (parallel_workers = 0)")


# ---- statements ----


def test_statements_of_a_distributed_table(twin):
    twin.events()
    twin.sound()
    twin.ok("SELECT v, count(*), sum(amount), avg(k), min(day) FROM t GROUP BY v")
    twin.ok("SELECT count(DISTINCT v), count(DISTINCT id) FROM t")
    twin.ok(
        "SELECT name, count(*) FROM t JOIN kinds USING (k) WHERE v < 'v2' GROUP BY 1"
    )
    twin.ok("SELECT * FROM t WHERE id = 4711")
    twin.ok("SELECT * FROM t ORDER BY amount, id LIMIT 20", ordered=True)
    twin.ok(
        "SELECT a.v, count(*) FROM t a JOIN t b USING (id) WHERE b.k < 50 GROUP BY 1"
    )
    twin.ok("SET citus.enable_repartition_joins = on")
    twin.ok("SET citus.enable_single_hash_repartition_joins = on")
    twin.ok(
        "SELECT count(*) FROM t a JOIN t b ON a.k = b.k WHERE a.v = 'v3' AND b.v = 'v4'"
    )
    twin.ok("WITH d AS MATERIALIZED (SELECT k FROM t WHERE id < 50) SELECT count(*)"
            " FROM t JOIN d USING (k)")  # fmt: skip

    twin.ok("UPDATE t SET amount = amount + 1, v = 'changed' WHERE k % 10 = 4")
    twin.ok("UPDATE t SET v = name FROM kinds WHERE t.k = kinds.k AND kinds.k < 5")
    twin.ok("DELETE FROM t WHERE day > '2026-11-01'")
    twin.ok("UPDATE t SET v = 'one' WHERE id = 17")
    twin.fails("0A000", "UPDATE t SET id = id + 1 WHERE id = 17")
    twin.ok("DELETE FROM t WHERE id = 18 RETURNING *")
    twin.sound()

    twin.ok("INSERT INTO t VALUES (17, 1, 0, 'twice', NULL) ON CONFLICT (id)"
            " DO UPDATE SET v = t.v || excluded.v")  # fmt: skip
    twin.ok("INSERT INTO t SELECT id, 3, 0, 'again', day FROM t WHERE k = 7"
            " ON CONFLICT (id) DO NOTHING")  # fmt: skip
    twin.ok("INSERT INTO t SELECT id, k, 0, 'again', day FROM t WHERE k = 9"
            " ON CONFLICT (id) DO UPDATE SET v = excluded.v")  # fmt: skip
    twin.fails("23505", "INSERT INTO t VALUES (17, 1)")
    twin.fails("23503", "INSERT INTO t VALUES (-17, 1000)")
    twin.fails("23503", "DELETE FROM kinds WHERE k = 3")
    twin.fails("23505", "INSERT INTO t SELECT id, 1 FROM t WHERE k = 8")

    # pushed down, repartitioned, through the coordinator
    twin.ok("CREATE TABLE u (id bigint, k int, amount numeric, v text, day date)")
    twin.distribute("u")
    twin.ok("INSERT INTO u SELECT * FROM t")
    twin.ok(f"INSERT INTO u SELECT id + {BULK}, k, amount, v, day FROM t WHERE k < 60")
    twin.ok("INSERT INTO u SELECT sum(id), k, sum(amount), v, max(day) FROM t"
            " GROUP BY k, v ORDER BY k, v LIMIT 100")  # fmt: skip
    twin.sound("u")
    twin.ok("TRUNCATE u")
    twin.sound("u")


def test_copy(twin):
    twin.events(load=False)
    for conn in twin.conns.values():
        with conn.cursor().copy("COPY t FROM STDIN") as copy:
            for i in range(1, BULK):
                copy.write_row((i, i % 97, i / 8, f"v{i % 29}", None))
        with (
            pytest.raises(psycopg.Error, match="duplicate key"),
            conn.cursor().copy("COPY t FROM STDIN") as copy,
        ):
            for i in range(BULK, BULK + 3000):
                copy.write_row((i, 1, 0, "lost", None))
            copy.write_row((5, 1, 0, "twice", None))
    twin.sound()
    texts = []
    for conn in twin.conns.values():
        with conn.cursor().copy("COPY t TO STDOUT") as copy:
            texts.append(sorted(b"".join(copy).splitlines()))
    assert texts[0] == texts[1]
    assert len(texts[0]) == BULK - 1


def test_row_locks(twin):
    twin.events()
    other = Session(twin.formation, twin.am)
    for schema, conn in twin.conns.items():
        with conn.transaction():
            assert conn.execute(
                "SELECT v FROM t WHERE id = 1234 FOR UPDATE"
            ).fetchone() == ("v16",)
            rival = other.conns[schema]
            assert rival.execute(
                "SELECT id FROM t WHERE id = 1234 FOR UPDATE SKIP LOCKED"
            ).fetchall() == []  # fmt: skip
            with pytest.raises(psycopg.errors.LockNotAvailable):
                rival.execute("SELECT id FROM t WHERE id = 1234 FOR UPDATE NOWAIT")
            conn.execute("UPDATE t SET v = 'locked' WHERE id = 1234")
        assert rival.execute("SELECT v FROM t WHERE id = 1234").fetchone() == (
            "locked",
        )
        rival.close()
    twin.sound()


def test_transactions_over_nodes(twin):
    twin.events()
    for conn in twin.conns.values():
        with contextlib.suppress(ZeroDivisionError), conn.transaction():
            conn.execute("UPDATE t SET v = 'lost'")
            conn.execute(f"INSERT INTO t SELECT id + {BULK}, k FROM t WHERE k = 5")
            raise ZeroDivisionError
        with conn.transaction():
            conn.execute("DELETE FROM t WHERE k = 5")
            with contextlib.suppress(ZeroDivisionError), conn.transaction():
                conn.execute("DELETE FROM t WHERE k < 50")
                raise ZeroDivisionError
            conn.execute(f"INSERT INTO t SELECT id + {BULK}, k FROM t WHERE k = 6")
    twin.sound()


def test_reference_and_local_tables(twin):
    twin.events(load=False)
    for table, make in (
        ("ref", "SELECT create_reference_table('ref')"),
        ("loc", "SELECT citus_add_local_table_to_metadata('loc')"),
    ):
        twin.ok(f"CREATE TABLE {table} (id int PRIMARY KEY, k int, v text)")
        twin.ok(
            f"INSERT INTO {table} SELECT i, i % 7, 'v' || i FROM generate_series(1, 5000) i"
        )
        for conn in twin.conns.values():
            conn.execute(make)
        twin.ok(
            f"INSERT INTO {table} SELECT i, i, 'n' FROM generate_series(5001, 9000) i"
        )
        twin.ok(f"UPDATE {table} SET v = 'u' WHERE id % 5 = 0")
        twin.ok(f"DELETE FROM {table} WHERE k = 3")
        twin.fails("23505", f"INSERT INTO {table} VALUES (1)")
        twin.check(table)
    twin.ok(f"INSERT INTO t {ROWS}")
    twin.ok("SELECT ref.v, count(*) FROM t JOIN ref ON t.k = ref.id GROUP BY 1")
    twin.ok("SELECT count(*) FROM t JOIN loc ON t.id = loc.id")
    # each node has the reference table's rows
    shard = twin.shards("ref")[0][1]
    counts = {
        node.connect("dist").execute(f"SELECT count(*) FROM {shard}").fetchone()
        for node in twin.formation.nodes
    }
    assert len(counts) == 1


def test_partitions_of_several_methods(schemas):
    twin = DistributedTwin(schemas, "colcompress")
    twin.ok("CREATE TABLE first (id bigint)")
    twin.distribute("first")
    twin.ok(
        "CREATE TABLE t (id bigint, k int, amount numeric, v text, day date)"
        " PARTITION BY RANGE (day)"
    )
    twin.distribute("t")
    for schema, conn in twin.conns.items():
        for quarter, method in enumerate([*METHODS, "heap"]):
            conn.execute(
                f"CREATE TABLE q{quarter} PARTITION OF t FOR VALUES FROM"
                f" ('2026-{quarter * 3 + 1:02}-01') TO"
                f" ('{2026 + quarter // 3}-{(quarter * 3 + 3) % 12 + 1:02}-01')"
                f" USING {method if schema == OURS else 'heap'}"
            )
    twin.ok("CREATE INDEX ON t (id)")
    twin.ok(f"INSERT INTO t {ROWS}")
    twin.ok(
        "SELECT v, count(*), sum(amount) FROM t WHERE day > '2026-05-01' GROUP BY v"
    )
    twin.ok("UPDATE t SET day = day + 90 WHERE k = 3 AND day < '2026-07-01'")
    twin.ok("DELETE FROM t WHERE k = 4")
    twin.check()
    twin.ours.execute("SELECT alter_table_set_access_method('q3', 'colcompress')")
    twin.check()
    twin.ok("ALTER TABLE t DETACH PARTITION q0")
    twin.check()
    for conn in twin.conns.values():
        conn.close()


# ---- plans ----

VECTORS = {
    "SELECT k, count(*), sum(id), avg(amount) FROM t GROUP BY k": "Aggregate",
    "SELECT count(DISTINCT id) FROM t": "Aggregate",
    "SELECT count(DISTINCT v) FROM t": "Aggregate",
    "SELECT v, stddev(k), min(day), max(amount), bool_or(k > 5) FROM t GROUP BY v": "Aggregate",
    "SELECT string_agg(v, ',') FROM t WHERE k = 1": "Aggregate",
    "SELECT name, count(*) FROM t JOIN kinds USING (k) GROUP BY name": "Join",
}


@pytest.mark.parametrize("query", VECTORS)
def test_partial_aggregates_run_in_vectors(store, query):
    store.events()
    rows = store.ours.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {query}").fetchall()
    plan = "\n".join(line for (line,) in rows)
    name = store.am.capitalize()
    assert f"({name}Aggregate)" in plan, plan
    assert f"({name}{VECTORS[query]})" in plan, plan
    store.ok(query.replace("string_agg(v, ',')", "length(string_agg(v, ','))"))


# ---- administration ----


def fingerprints(twin: DistributedTwin, table: str = "t") -> list[str]:
    """A hash of the rows of each shard."""
    return sorted(
        twin.on_shards(
            "SELECT fingerprint FROM colcompress.fingerprint('%s') WHERE column_name IS NULL",
            table,
        )
    )


def test_change_of_access_method(twin):
    twin.events()
    twin.ok("ALTER TABLE t DROP CONSTRAINT t_k_fkey")  # Citus wants that
    before = fingerprints(twin)
    for method in ("heap", twin.am):
        twin.ours.execute("SELECT alter_table_set_access_method('t', %s)", [method])
        methods = twin.on_shards(
            "SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam"
            " WHERE c.oid = '%s'::regclass"
        )
        assert set(methods) == {method}
        assert fingerprints(twin) == before
    twin.ok("UPDATE t SET v = 'after' WHERE k = 5")
    twin.sound()


def test_undistribute(twin):
    twin.events()
    twin.ok("DELETE FROM t WHERE k = 5")
    for conn in twin.conns.values():
        conn.execute("SELECT undistribute_table('t', cascade_via_foreign_keys => true)")
    method = twin.ours.execute(
        "SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam"
        " WHERE c.oid = 't'::regclass"
    ).fetchone()
    assert method == (twin.am,)
    twin.ok("INSERT INTO t VALUES (-1, 1)")
    twin.check()


def writers(twin: DistributedTwin, count: int = 2, *, only_insert: bool = False):
    """Jobs that change both tables alike, each its own rows, one transaction
    after another."""

    def make(writer: int):
        numbers = itertools.count(1)

        def job(conn) -> None:
            n = next(numbers)
            key = -(n * 100 + writer)
            with conn.transaction():
                for schema in (OURS, HEAP):
                    statements = [
                        f"INSERT INTO {schema}.t VALUES ({key}, {n % 97}, {n}, 'w{writer}')",
                        f"UPDATE {schema}.t SET amount = amount + 1 WHERE id = {-(n // 2 * 100 + writer)}",
                        f"DELETE FROM {schema}.t WHERE id = {-(n // 3 * 100 + writer)}",
                        f"UPDATE {schema}.t SET v = 'u{n}' WHERE id = {n * 7 % BULK * 2 + writer}",
                    ]
                    for statement in statements[: 1 if only_insert else None]:
                        conn.execute(statement)

        return job

    return [make(writer) for writer in range(count)]


def other_node(twin: DistributedTwin, node: str) -> str:
    names = [str(worker.socket) for worker in twin.formation.workers]
    return names[1 - names.index(node)]


@pytest.mark.parametrize("mode", ["block_writes", "force_logical"])
def test_shard_moves_under_writes(twin, mode):
    twin.events()
    with repeated(twin.formation, writers(twin)):
        for number, _, node in twin.shards():
            twin.ours.execute(
                "SELECT citus_move_shard_placement(%s, %s, 5432, %s, 5432, %s)",
                [number, node, other_node(twin, node), mode],
            )
    twin.sound()
    assert twin.ours.execute("SELECT count(*) FROM t WHERE v LIKE 'u%'").fetchone()[0]


@pytest.mark.parametrize("mode", ["block_writes", "force_logical"])
def test_shard_split_under_writes(twin, mode):
    twin.events()
    number, _, node = twin.shards()[0]
    nodes = twin.ours.execute(
        "SELECT array_agg(nodeid ORDER BY nodeid) FROM pg_dist_node WHERE groupid > 0"
    ).fetchone()[0]
    low, high = twin.ours.execute(
        "SELECT shardminvalue::int, shardmaxvalue::int FROM pg_dist_shard"
        " WHERE shardid = %s", [number]
    ).fetchone()  # fmt: skip
    # Updates beside a split that does not block them end in an error of the
    # subscriber that comes again and again, with tables of heap, too.
    jobs = writers(twin, only_insert=mode == "force_logical")
    with repeated(twin.formation, jobs):
        twin.ours.execute(
            "SELECT citus_split_shard_by_split_points(%s, %s, %s, %s)",
            [number, [str((low + high) // 2)], nodes, mode],
        )
    assert len(twin.shards()) == 5
    twin.sound()


def test_rebalance(store):
    store.events()
    home = str(store.formation.workers[0].socket)
    store.gather(home)
    assert {node for _, _, node in store.shards()} == {home}
    before = fingerprints(store)
    store.ours.execute("SELECT rebalance_table_shards(%s)", [f"{OURS}.t"])
    assert len({node for _, _, node in store.shards()}) == 2
    assert fingerprints(store) == before
    store.sound()


def shielded(job):
    """The job, for which a lost worker is no error: its transaction is undone."""

    def run(conn) -> None:
        with contextlib.suppress(psycopg.Error):
            job(conn)

    return run


def test_transactions_in_two_phases_survive_a_killed_worker(store):
    """What is prepared on a worker that dies is committed or undone everywhere."""
    store.events()
    worker = store.formation.workers[0]
    with store.formation.connect(worker) as conn:
        conn.execute("CHECKPOINT")
        shards = [
            f"{OURS}.t_{number}"
            for number, _, node in store.shards()
            if node == str(worker.socket)
        ]
        # What a coordinator leaves that is cut off before its own commit.
        conn.execute("SET citus.enable_manual_changes_to_shards = on")
        conn.execute("BEGIN")
        for shard in shards:
            conn.execute(f"DELETE FROM {shard} WHERE k = 5")
            conn.execute(f"UPDATE {shard} SET v = 'never' WHERE k = 6")
        conn.execute("PREPARE TRANSACTION 'citus_0_12345_77_1'")
    with repeated(store.formation, list(map(shielded, writers(store)))):
        wait_until(
            lambda: store.ours.execute("SELECT count(*) FROM t WHERE v LIKE 'u%'")
            .fetchone()[0] > 5,
            "the writers",
        )  # fmt: skip
        worker.crash()
        store.formation.wait_reachable()
    with store.formation.connect() as conn:

        def recovered() -> bool:
            conn.execute("SELECT recover_prepared_transactions()")
            left = conn.execute(
                "SELECT result FROM run_command_on_all_nodes("
                "'SELECT count(*) FROM pg_prepared_xacts')"
            ).fetchall()
            return set(left) == {("0",)}

        wait_until(recovered, "the recovery of prepared transactions")
    fresh = DistributedTwin(store.formation, store.am)
    fresh.sound()
    fresh.ok("UPDATE t SET amount = -2 WHERE k IN (5, 6)")
    fresh.sound()
    for conn in fresh.conns.values():
        conn.close()


# ---- options and compaction ----


def options(twin: DistributedTwin, table: str = "t") -> set[str]:
    """What was set, as the shards see it."""
    return set(
        twin.on_shards(
            "SELECT coalesce(string_agg(name || '=' || value, ' ' ORDER BY name), '')"
            f" FROM {twin.am}.table_options('%s') WHERE source <> 'default'",
            table,
        )
    )


def test_options_reach_shards_old_and_new(store):
    am = store.am
    store.events()
    # other sessions of the workers have not loaded the library
    store.ours.close()
    store.conns[OURS] = Session(store.formation, am).ours
    store.ours.execute(f"SELECT {am}.set_options('t', level => 7, orderby => 'day, k')")
    assert options(store) == {"level=7 orderby=day, k"}
    with store.ours.transaction(force_rollback=True):
        store.ours.execute(f"SELECT {am}.set_options('t', reset => '{{all}}')")
    assert options(store) == {"level=7 orderby=day, k"}

    store.ours.execute("ALTER TABLE t RENAME COLUMN day TO since")
    assert options(store) == {"level=7 orderby=since, k"}
    number, _, node = store.shards()[0]
    low, high = store.ours.execute(
        "SELECT shardminvalue::int, shardmaxvalue::int FROM pg_dist_shard"
        " WHERE shardid = %s", [number]
    ).fetchone()  # fmt: skip
    store.ours.execute(
        "SELECT citus_split_shard_by_split_points(%s, %s, (SELECT array_agg(nodeid"
        " ORDER BY nodeid) FROM pg_dist_node WHERE groupid > 0), 'block_writes')",
        [number, [str((low + high) // 2)]],
    )
    number, _, node = store.shards()[-1]
    store.ours.execute(
        "SELECT citus_move_shard_placement(%s, %s, 5432, %s, 5432, 'block_writes')",
        [number, node, other_node(store, node)],
    )
    assert options(store) == {"level=7 orderby=since, k"}
    store.ours.execute(
        f"SELECT {am}.set_options('t', level => 2, reset => '{{orderby}}')"
    )
    assert options(store) == {"level=2"}
    with pytest.raises(AssertionError, match="is a shard"):
        store.on_shards(f"SELECT {am}.set_options('%s', level => 3)")

    # tables that look like shards and are none
    with store.formation.connect(store.formation.workers[0]) as conn:
        conn.execute("SET citus.enable_ddl_propagation = off")
        conn.execute(f"CREATE TABLE {OURS}.u_{number} (a int) USING {am}")
        conn.execute(f"SELECT {am}.set_options('{OURS}.u_{number}', level => 3)")
        conn.execute(f"DROP TABLE {OURS}.u_{number}")


def test_options_of_partitions_and_long_names(store):
    am = store.am
    long = "t" + 60 * "y"
    store.ours.execute(
        f"CREATE TABLE {long} (id int, day date) PARTITION BY RANGE (day)"
    )
    store.ours.execute(f"SELECT create_distributed_table('{long}', 'id')")
    store.ours.execute(
        f"CREATE TABLE {long[1:]} PARTITION OF {long} DEFAULT USING {am}"
    )
    store.ours.execute(f"SELECT {am}.set_options('{long}', level => 5)")
    assert options(store, long[1:]) == {"level=5"}
    store.ours.execute(f"SELECT {am}.set_options('{long}', level => 6)")
    assert options(store, long[1:]) == {"level=6"}
    store.ours.execute(f"SELECT {am}.set_options('{long[1:]}', orderby => 'id')")
    assert options(store, long[1:]) == {"level=6 orderby=id"}
    store.ours.execute(
        f"INSERT INTO {long} SELECT i, '2026-01-01' FROM generate_series(1, 30000) i"
    )
    store.ours.execute(f"DELETE FROM {long} WHERE id % 2 = 0")
    rows = store.ours.execute(
        f"SELECT success FROM {am}.compact_shards('{long}', \"full\" => true)"
    ).fetchall()
    assert rows == [(True,)] * 4
    left = store.on_shards(
        f"SELECT coalesce(sum(deleted_rows), 0) FROM {am}.row_groups('%s')", long[1:]
    )
    assert set(left) == {"0"}


def test_compaction_of_shards_tells_of_failures(store):
    am = store.am
    store.events()
    with pytest.raises(psycopg.errors.WrongObjectType, match="not distributed"):
        store.ours.execute(f"SELECT {am}.compact_shards('pg_class')")
    store.ok("DELETE FROM t WHERE k % 3 = 0")
    number, _, node = store.shards()[0]
    worker = next(w for w in store.formation.workers if str(w.socket) == node)
    with store.formation.connect(worker) as conn:
        conn.execute("ALTER SYSTEM SET lock_timeout = '200ms'")
        conn.execute("SELECT pg_reload_conf()")
        conn.execute("SET citus.enable_manual_changes_to_shards = on")
        with conn.transaction():
            conn.execute(f"LOCK TABLE {OURS}.t_{number}")
            with pytest.raises(
                psycopg.errors.RaiseException, match="1 of 4 shards"
            ) as error:
                store.ours.execute(f"SELECT {am}.compact_shards('t', \"full\" => true)")
            assert str(number) in error.value.diag.message_detail
        conn.execute("ALTER SYSTEM RESET lock_timeout")
        conn.execute("SELECT pg_reload_conf()")
    left = store.on_shards(f"SELECT sum(deleted_rows) FROM {am}.row_groups('%s')")
    assert sorted(left)[:3] == ["0"] * 3
    store.ours.execute(f"SELECT {am}.compact_shards('t', \"full\" => true)")
    assert set(
        store.on_shards(f"SELECT sum(deleted_rows) FROM {am}.row_groups('%s')")
    ) == {"0"}
    store.sound()


def test_loads_of_shards_are_columnar_at_once(store):
    """With wal_level = logical, which moves of shards want, and no maintenance."""
    store.events(load=False)
    assert store.ours.execute("SHOW wal_level").fetchone() == ("logical",)
    rows = 100_000
    store.ours.execute(f"INSERT INTO t {ROWS.replace(str(BULK), str(rows))}")
    grouped = store.on_shards(f"SELECT row_group_rows FROM {store.am}.table_info('%s')")
    assert sum(map(int, grouped)) > 0.95 * rows


# ---- one node and two ----

# 10,000,000 for the times in docs/distributed.md, with pytest's -s to see them.
EVENTS = int(os.environ.get("SHARDED_EVENTS", 40_000))


def test_queries_on_one_node_and_two(schemas):
    """The benchmark's queries of events, with eight shards."""
    twin = DistributedTwin(schemas, "colcompress")
    columns = ", ".join(f"{name} {kind}" for name, kind in EVENTS_DATA.columns)
    twin.ok("SET statement_timeout = 0")
    twin.ok("SET citus.shard_count = 8")
    twin.ok(f"CREATE TABLE events ({columns})")
    for conn in twin.conns.values():
        conn.execute("SELECT create_distributed_table('events', 'id')")
    twin.heap.execute(f"INSERT INTO events {row_select('1', str(EVENTS))}")
    twin.ours.execute(f"INSERT INTO events SELECT * FROM {HEAP}.events")
    twin.ok("VACUUM ANALYZE events")

    engines = {}
    for schema in (OURS, HEAP):
        engines[schema] = PostgresEngine(schemas.coordinator.dsn(schemas.dbname))
        engines[schema].configure(search_path=schema)
        size = engines[schema].rows("SELECT citus_table_size('events') / 1000000")
        print(f"\n{schema}: {EVENTS} rows, {size[0][0]} MB")
    for nodes in (2, 1):
        if nodes == 1:
            twin.gather(str(schemas.workers[0].socket), "events")
        assert len({node for _, _, node in twin.shards("events")}) == nodes
        for query in EVENTS_DATA.queries:
            results = {}
            for schema, engine in engines.items():
                runs = [engine.timed(query.sql, 600) for _ in range(3)]
                results[schema] = runs[0][0]
                ms = statistics.median(ms for _, ms in runs)
                print(f"{nodes} nodes, {query.name}, {schema}: {ms:.1f} ms")
            compare(query, results[HEAP], results[OURS])
    for engine in engines.values():
        engine.close()


# ---- documents ----


def test_example_of_the_documents(formation):
    """docs/distributed.md, in the public schema."""
    with formation.connect() as conn:
        try:
            compared = sum(
                examples.run(
                    conn,
                    block.replace("CREATE EXTENSION", "CREATE EXTENSION IF NOT EXISTS"),
                )
                for _, block in examples.blocks("distributed.md", "Citus")
            )
        finally:
            conn.execute("DROP TABLE IF EXISTS events, kinds")
    assert compared == 8
