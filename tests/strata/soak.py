"""A soak: sessions at every isolation level beside maintenance and faults.

Each table of ours has a heap twin; a transaction does the same to both, and
adds its number to a ledger.  What the sessions were told to be committed stands
in memory here: the independent log.  Rows belong to one session each (w), but
for the accounts (w = -1), among which amounts move, so that their sum stays 0.

After each fault: the ledger has what was acknowledged and nothing that was not
tried; sums are 0; twins are equal, by sequential scans and by every index; the
tables' own verifiers and amcheck find nothing.

A run's decisions come from its seed; when a thread runs does not.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter, deque

import psycopg

from .twin import HEAP, OURS, Twin
from .wait import wait_until

ACCOUNTS = 20
SESSIONS = 8
COLUMNS = "id int8 NOT NULL, w int NOT NULL, k int8, v text"

# What ends a statement here without being a fault of ours: cancelled, deadlock,
# serialization failure, terminated, server gone or starting, lock timeout; a row
# that a concurrent change moved to another partition.
EXPECTED = ("57014", "40P01", "40001", "57P01", "57P02", "57P03", "55P03", "57P05")

LEVELS = ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")

# Each is a list of statements on one table; {n} is new with every transaction,
# {w} the session's number, {a}, {b} accounts, {x} an amount.
WRITES = {
    "load": [
        "INSERT INTO {t} (id, w, k, v) SELECT {n} * 10000 + i, {w}, i % 7, 'bulk ' || i % 100"
        " FROM generate_series(1, 2500) i",
    ],
    "insert": [
        "INSERT INTO {t} (id, w, k, v) SELECT {n} * 10000 + i, {w}, 0, 'few'"
        " FROM generate_series(1, 50) i",
    ],
    "toasted": [
        "INSERT INTO {t} (id, w, k, v) SELECT {n} * 10000 + i, {w}, i, repeat(md5({n}::text || i), 120)"
        " FROM generate_series(1, 20) i",
    ],
    "savepoints": [
        "INSERT INTO {t} (id, w, k, v) SELECT {n} * 10000 + i, {w}, 1, 'kept'"
        " FROM generate_series(1, 300) i",
        "SAVEPOINT s",
        "DELETE FROM {t} WHERE w = {w} AND id % 5 = 0",
        "INSERT INTO {t} (id, w, k, v) SELECT {n} * 10000 + 2000 + i, {w}, 2, 'lost'"
        " FROM generate_series(1, 1500) i",
        "ROLLBACK TO s",
        "UPDATE {t} SET k = k + 1 WHERE w = {w} AND id % 31 = {n} % 31",
    ],
    "update": ["UPDATE {t} SET v = 'by {n}' WHERE w = {w} AND id % 13 = {n} % 13"],
    "update of keys": [
        "UPDATE {t} SET id = {n} * 10000 + 5000 + id % 1000"
        " WHERE id IN (SELECT id FROM {t} WHERE w = {w} AND id % 10000 < 1000 ORDER BY id LIMIT 5)",
    ],
    "delete": ["DELETE FROM {t} WHERE w = {w} AND id % 7 = {n} % 7"],
    "delete of old": ["DELETE FROM {t} WHERE w = {w} AND id < ({n} - 200) * 10000"],
    "transfer": [
        "SELECT FROM {t} WHERE id IN (-{a}, -{b}) ORDER BY id FOR NO KEY UPDATE",
        "UPDATE {t} SET k = k - {x} WHERE id = -{a}",
        "UPDATE {t} SET k = k + {x} WHERE id = -{b}",
    ],
    "upsert": [
        "INSERT INTO {t} AS t (id, w, k, v) SELECT -100 - {w} * 100 - i, {w}, 1, 'up'"
        " FROM generate_series(1, 9) i ON CONFLICT (id) DO UPDATE SET k = t.k + 1",
    ],
    "merge": [
        "MERGE INTO {t} t USING (SELECT -100 - {w} * 100 - i AS id FROM generate_series(1, 15) i) s"
        " ON t.id = s.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET k = t.k + 2"
        " WHEN NOT MATCHED THEN INSERT (id, w, k, v) VALUES (s.id, {w}, 5, 'merged')",
    ],
    "cursor": [
        "DECLARE c CURSOR FOR SELECT id FROM {t} WHERE w = {w} ORDER BY id FOR UPDATE",
        "FETCH 3 FROM c",
        "UPDATE {t} SET k = k + 3 WHERE CURRENT OF c",
        "CLOSE c",
    ],
    "children": [
        "INSERT INTO {t}_child SELECT {n}, -{a}, {w} WHERE EXISTS (SELECT FROM {t} WHERE id = -{a})",
        "DELETE FROM {t}_child WHERE w = {w} AND n % 5 = {n} % 5",
    ],
    "locks": [
        "SELECT FROM {t} WHERE id = -{a} FOR {lock}",
        "SELECT FROM {t} WHERE w = {w} AND id % 17 = 3 FOR {lock}",
    ],
}
LOCKS = ("KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE")

# Of one table of ours; {am} is its access method.
MAINTENANCE = {
    "vacuum": "VACUUM {t}",
    "vacuum full": "VACUUM FULL {t}",
    "freeze": "VACUUM (FREEZE, INDEX_CLEANUP on) {t}",
    "reindex": "REINDEX TABLE CONCURRENTLY {t}",
    "reindex plainly": "REINDEX TABLE {t}",
    "cluster": "CLUSTER {t} USING {name}_key",
    "analyze": "ANALYZE {t}",
    "index": "CREATE INDEX CONCURRENTLY {name}_more ON {t} (k, v)",
    "drop index": "DROP INDEX CONCURRENTLY IF EXISTS ours.{name}_more",
    "compact": "CALL {am}.compact('{t}')",
    "merge": "CALL {am}.merge('{t}')",
    "to heap and back": "BEGIN; ALTER TABLE {t} SET ACCESS METHOD heap; ALTER TABLE {t} SET ACCESS METHOD {am}; COMMIT",
    "adopted": "BEGIN; ALTER TABLE {t} SET ACCESS METHOD heap; SELECT {am}.adopt('{t}'); COMMIT",
    "tablespace": "ALTER TABLE {t} SET TABLESPACE soak",
    "tablespace back": "ALTER TABLE {t} SET TABLESPACE pg_default",
    "columns": "BEGIN; ALTER TABLE {t} ADD COLUMN more int DEFAULT 7; ALTER TABLE {t} DROP COLUMN more; COMMIT",
    "detach": "BEGIN; ALTER TABLE ours.parts DETACH PARTITION ours.parts_col;"
    " ALTER TABLE ours.parts ATTACH PARTITION ours.parts_col FOR VALUES WITH (MODULUS 4, REMAINDER 0); COMMIT",
    "checkpoint": "CHECKPOINT",
}
NOT_OF_PARTITIONS = ("columns", "tablespace", "cluster", "index", "drop index")
STORE_ONLY = ("adopted",)

FAULTS = ("kill", "immediate", "backend", "cancel", "terminate", "stop")


class Ledger:
    """What the sessions tried, and what they were told."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.number = 0
        self.tried: set[int] = set()
        self.acknowledged: set[int] = set()

    def next(self) -> int:
        with self.lock:
            self.number += 1
            self.tried.add(self.number)
            return self.number

    def check(self, conn) -> None:
        for schema in (OURS, HEAP):
            there = {n for (n,) in conn.execute(f"SELECT n FROM {schema}.ledger")}
            assert self.acknowledged <= there, (
                f"{schema}: lost {sorted(self.acknowledged - there)[:5]}"
            )
            assert there <= self.tried, f"{schema}: {sorted(there - self.tried)[:5]}"


class Soak:
    """Tables, sessions and faults on one database, whose server may be killed."""

    def __init__(self, database, ams: dict[str, str], rng: random.Random) -> None:
        """ams: table's name to its access method; `parts` has one of each."""
        self.database, self.ams, self.rng = database, ams, rng
        self.ledger = Ledger()
        self.done, self.failed = Counter(), Counter()
        self.errors: list[BaseException] = []
        self.history: deque[str] = deque(maxlen=80)
        self.stopping = threading.Event()
        self.backends: dict[int, psycopg.Connection] = {}
        # tables and their access methods, partitions too, for maintenance
        self.kept = dict(ams) | {f"parts_{name}": am for name, am in ams.items()}
        self.tables = (*ams, "parts")
        twin = Twin(database, "heap")
        twin.ok("CREATE TABLE ledger (n int8)")
        for name, am in ams.items():
            twin.ours.execute(f"CREATE TABLE {name} ({COLUMNS}) USING {am}")
            twin.heap.execute(f"CREATE TABLE {name} ({COLUMNS})")
            if am != "sorted_heap":
                twin.ours.execute(
                    f"SELECT {am}.set_options('{name}', row_group_rows => 2000)"
                )
        twin.ours.execute(
            f"ALTER TABLE ledger SET ACCESS METHOD {next(iter(ams.values()))}"
        )
        twin.ok(f"CREATE TABLE parts ({COLUMNS}) PARTITION BY HASH (id)")
        for remainder, (name, am) in enumerate([*ams.items(), ("heap", "heap")]):
            for conn, method in ((twin.ours, am), (twin.heap, "heap")):
                conn.execute(
                    f"CREATE TABLE parts_{name} PARTITION OF parts"
                    f" FOR VALUES WITH (MODULUS 4, REMAINDER {remainder}) USING {method}"
                )
        for name in self.tables:
            twin.ok(f"ALTER TABLE {name} ADD CONSTRAINT {name}_key PRIMARY KEY (id)")
            twin.ok(f"CREATE INDEX ON {name} (v)")
            twin.ok(
                f"INSERT INTO {name} (id, w, k, v) SELECT -i, -1, 0, '' FROM generate_series(1, {ACCOUNTS}) i"
            )
            twin.ok(
                f"CREATE TABLE {name}_child (n int8, parent int8 REFERENCES {name}, w int)"
            )
        for name, am in self.kept.items():
            if am == "sorted_heap":
                twin.ours.execute(
                    f"CREATE INDEX {name}_zones ON {name} USING zonemap (id)"
                )
        self.close(twin)

    @staticmethod
    def close(twin) -> None:
        for conn in twin.conns.values():
            conn.close()

    # ---- sessions ----

    def write(self, conn, rng: random.Random, number: int) -> None:
        """One transaction on a table and its twin, with its line in the ledger."""
        table, kind = rng.choice(self.tables), rng.choice(list(WRITES))
        n = self.ledger.next()
        a, b = rng.sample(range(1, ACCOUNTS + 1), 2)
        values = {
            "n": n, "w": number, "a": min(a, b), "b": max(a, b),
            "x": rng.randrange(-50, 50), "lock": rng.choice(LOCKS),
        }  # fmt: skip
        self.history.append(f"{conn.info.backend_pid} begins {n}: {kind} on {table}")
        conn.execute(f"BEGIN ISOLATION LEVEL {rng.choice(LEVELS)}")
        # ALTER TABLE's rewrites empty a table for older snapshots: take ours later.
        conn.execute(f"LOCK TABLE ours.{table} IN ROW EXCLUSIVE MODE")
        for schema in (OURS, HEAP):
            for sql in WRITES[kind]:
                conn.execute(sql.format(t=f"{schema}.{table}", **values))
            conn.execute(f"INSERT INTO {schema}.ledger VALUES ({n})")
        if rng.random() < 0.08:
            conn.execute("ROLLBACK")
            self.ledger.tried.discard(n)
            return
        if rng.random() < 0.08:
            conn.execute(f"PREPARE TRANSACTION '{n}'")
            conn.execute(f"COMMIT PREPARED '{n}'")
        else:
            conn.execute("COMMIT")
        self.ledger.acknowledged.add(n)
        self.done[kind] += 1

    def read(self, conn, rng: random.Random, _number: int) -> None:
        """In one snapshot both twins are equal, and no amount is lost."""
        table = rng.choice(self.tables)
        conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        conn.execute(f"LOCK TABLE ours.{table} IN ACCESS SHARE MODE")
        found = [
            conn.execute(
                "SELECT sum(k) FILTER (WHERE w = -1), count(*), sum(k), sum(id), sum(hashtext(v))"
                f" FROM {schema}.{table}"
            ).fetchone()
            for schema in (OURS, HEAP)
        ]
        conn.execute("COMMIT")
        assert found[0] == found[1], f"{table}: {found}"
        assert found[0][0] == 0, f"{table}: accounts sum up to {found[0][0]}"
        self.done["read"] += 1

    def keep(self, conn, rng: random.Random, _number: int) -> None:
        name = rng.choice(list(self.kept))
        am = self.kept[name]
        kind = rng.choice(list(MAINTENANCE))
        if name.startswith("parts") and kind in NOT_OF_PARTITIONS:
            return
        if kind in STORE_ONLY and am == "sorted_heap":
            return
        self.history.append(f"{conn.info.backend_pid} begins {kind} on {name}")
        # One statement at a time: several would be one transaction.
        for sql in MAINTENANCE[kind].split("; "):
            conn.execute(sql.format(t=f"{OURS}.{name}", name=name, am=am))
        self.done[kind] += 1

    def session(self, action, number: int, seed: str) -> None:
        rng = random.Random(seed)
        try:
            with self.database.connect() as conn:
                conn.execute("SET statement_timeout = '60s'")
                conn.prepare_threshold = None
                self.backends[number] = conn
                while not self.stopping.is_set():
                    if rng.random() < 0.05:
                        conn.execute(f"SET lock_timeout = {rng.choice([0, 20, 500])}")
                        conn.execute(
                            f"SET statement_timeout = {rng.choice(['60s', '60s', '200ms'])!r}"
                        )
                    try:
                        action(conn, rng, number)
                    except psycopg.Error as error:
                        if conn.closed or error.sqlstate is None:
                            raise
                        self.expect(error, conn)
                        conn.execute("ROLLBACK")
        except psycopg.Error as error:
            if error.sqlstate not in (None, *EXPECTED):
                self.errors.append(error)
        except BaseException as error:
            self.errors.append(error)
        finally:
            self.backends.pop(number, None)

    def expect(self, error: psycopg.Error, conn) -> None:
        text = str(error).splitlines()[0]
        self.history.append(f"{conn.info.backend_pid}: {text}")
        self.failed[error.sqlstate] += 1
        if error.sqlstate in EXPECTED:
            return
        # An index that another round has left, or has taken away; a name that
        # REINDEX CONCURRENTLY holds; a cursor over no rows.
        if error.sqlstate in ("42P07", "42704", "24000"):
            return
        raise AssertionError(text) from error

    # ---- a round ----

    def round(self, number: int, fault: str, seconds: float) -> None:
        """Let the sessions run, let the fault come, wait for calm, compare."""
        self.stopping.clear()
        actions = [self.write] * (SESSIONS - 2) + [self.read, self.keep]
        threads = [
            threading.Thread(
                target=self.session,
                args=(action, session, f"{self.rng.random()}/{number}/{session}"),
            )
            for session, action in enumerate(actions)
        ]
        for thread in threads:
            thread.start()
        time.sleep(seconds * (0.5 + self.rng.random()))
        self.strike(fault)
        if fault in ("cancel", "terminate", "stop"):
            time.sleep(seconds * 0.3)
        self.stopping.set()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]
        self.calm(fault)
        self.check()

    def strike(self, fault: str) -> None:
        cluster = self.database.cluster
        self.history.append(f"fault: {fault}")
        if fault == "kill":
            cluster.kill()
            return
        if fault == "immediate":
            cluster.stop("immediate")
            return
        for number in self.rng.sample(range(SESSIONS), 1 if fault == "backend" else 3):
            conn = self.backends.get(number)
            with contextlib.suppress(psycopg.Error, ProcessLookupError, AttributeError):
                pid = conn.info.backend_pid
                if fault == "cancel":
                    conn.cancel()
                elif fault == "terminate":
                    os.kill(pid, signal.SIGTERM)
                elif fault == "backend":
                    os.kill(pid, signal.SIGKILL)
                else:
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(1 + self.rng.random())
                    os.kill(pid, signal.SIGCONT)

    def calm(self, fault: str) -> None:
        cluster = self.database.cluster
        if fault in ("kill", "immediate"):
            cluster.start()
        cluster.wait_ready()
        with self.database.connect() as conn:
            for (gid,) in conn.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
                end = self.rng.choice(["COMMIT", "ROLLBACK"])
                conn.execute(f"{end} PREPARED '{gid}'")
            for (index,) in conn.execute(
                "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
                " AND indexrelid::regclass::text ~ '(_cc(new|old)[0-9]*|_more)$'"
            ).fetchall():
                conn.execute(f"DROP INDEX {index}")
            wait_until(
                lambda: conn.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
                ).fetchone()[0] == 0,
                "the sessions' backends to end",
                60,
            )  # fmt: skip

    def check(self) -> None:
        twin = Twin(self.database, "heap")
        try:
            self.ledger.check(twin.ours)
            for table in (*self.tables, "ledger"):
                twin.check(table)
            for table in self.tables:
                twin.check(f"{table}_child")
                (total,) = twin.ours.execute(
                    f"SELECT sum(k) FROM {table} WHERE w = -1"
                ).fetchone()
                assert total == 0, f"{table}: accounts sum up to {total}"
            for name, am in self.kept.items():
                if am == "sorted_heap":
                    sql = f"SELECT * FROM {am}.zonemap_verify('ours.{name}_zones')"
                else:
                    sql = f"SELECT * FROM {am}.verify('ours.{name}')"
                found = twin.ours.execute(sql).fetchall()
                assert found == [], f"{name}: {found}"
            for (index,) in twin.ours.execute(
                "SELECT c.oid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = indexrelid"
                " JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = relnamespace"
                " WHERE a.amname = 'btree' AND nspname = 'ours' AND relkind = 'i' AND indisvalid"
            ).fetchall():
                twin.ours.execute("SELECT bt_index_check(%s::regclass, true)", [index])
        finally:
            self.close(twin)
