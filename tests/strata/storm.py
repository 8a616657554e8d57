"""A storm: sessions that write a table and its heap twin, and keep the table.

Every statement of a writer runs on both twins in one transaction, so that at
any moment, whoever is killed, both have it or neither.  Writers own disjoint
rows, and share a few that they only count up, by updates of single rows: so
both twins come to the same result in whatever order the writers come.  The
keeper compacts, vacuums and rewrites our table beside them.  A table that
switches begins as heap; the keeper also adopts and releases it.

strike() aims: it waits until somebody begins a statement of the wanted kind,
and a random part of the time that such a statement takes.

What a session does comes from the storm's seed; when its thread runs does not.
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

from .switch import method, nothing_left
from .twin import HEAP, OURS, Twin
from .wait import wait_until

SHARED = 20
WRITERS = 2

# {n} is new with every statement, {w} the writer's number, {t} a table; rows of a
# writer have w = {w}.  Lists: statements of one transaction on each twin.
WRITES = {
    "load": [
        "DELETE FROM {t} WHERE w = {w} AND id < ({n} - 12) * 10000",
        "INSERT INTO {t} SELECT {n} * 10000 + i, {w}, i % 7, 'bulk ' || i % 100"
        " FROM generate_series(1, 3000) i",
    ],
    "wide load": [
        "INSERT INTO {t} SELECT {n} * 10000 + i, {w}, i, repeat(md5({n}::text || i), 90)"
        " FROM generate_series(1, 1100) i"
    ],
    "load in parts": [
        "INSERT INTO {t} SELECT {n} * 10000 + i, {w}, 1, 'kept' FROM generate_series(1, 1200) i",
        "SAVEPOINT s",
        "INSERT INTO {t} SELECT {n} * 10000 + 2000 + i, {w}, 2, 'lost' FROM generate_series(1, 1500) i",
        "DELETE FROM {t} WHERE w = {w} AND id % 5 = 0",
        "ROLLBACK TO s",
        "INSERT INTO {t} SELECT {n} * 10000 + 4000 + i, {w}, 3, 'kept' FROM generate_series(1, 1200) i",
    ],
    "insert": [
        "INSERT INTO {t} SELECT {n} * 10000 + i, {w}, 0, 'few' FROM generate_series(1, 200) i"
    ],
    "update": ["UPDATE {t} SET v = 'by {n}' WHERE w = {w} AND id % 13 = {n} % 13"],
    "update of all": ["UPDATE {t} SET k = k + 1 WHERE w = {w}"],
    "update of keys": [
        "UPDATE {t} SET id = {n} * 10000 + id % 10000 WHERE w = {w} AND id / 10000 = {n} - 2"
    ],
    "delete": ["DELETE FROM {t} WHERE w = {w} AND id % 7 = {n} % 7"],
    "delete of old": ["DELETE FROM {t} WHERE w = {w} AND id < ({n} - 12) * 10000"],
    "count up": [
        "SELECT FROM {t} WHERE id = -1 - {n} % {shared} FOR UPDATE",
        "UPDATE {t} SET k = k + 1 WHERE id = -1 - {n} % {shared}",
        "INSERT INTO {t} VALUES (-1 - {n} % {shared}, -1, 0, '')"
        " ON CONFLICT (id) DO UPDATE SET k = {t}.k + 10",
    ],
    "truncate": [
        "LOCK {t}",
        "CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM {t} WHERE id % 2 = 0 OR w = -1",
        "TRUNCATE {t}",
        "INSERT INTO {t} SELECT * FROM kept",
        "DROP TABLE kept",
    ],
}
KEEPING = {
    "compact": "CALL {am}.compact('ours.t')",
    "merge": "CALL {am}.merge('ours.t')",
    "vacuum": "VACUUM ours.t",
    "fold": "VACUUM (INDEX_CLEANUP on) ours.t",
    "vacuum full": "VACUUM FULL ours.t",
    "freeze": "VACUUM (FREEZE) ours.t",
    "reindex": "REINDEX TABLE CONCURRENTLY ours.t",
    "analyze": "ANALYZE ours.t",
    "checkpoint": "CHECKPOINT",
}
KINDS = (*WRITES, *KEEPING)
# What the keeper of a table that switches does as well, and what is aimed at then.
# Their patience ends after the session's statement_timeout.
SWITCHES = {
    "adopt": "SELECT {am}.adopt('ours.t', patience => '5 minutes')",
    "release": "CALL {am}.release('ours.t', patience => '5 minutes')",
}
SWITCHING = (*SWITCHES, "compact")
OPTIONS = "SELECT {am}.set_options('ours.t', row_group_rows => 2000, orderby => 'v')"
VERIFY = {
    "store": "SELECT * FROM {am}.verify('ours.t')",
    "sorted_heap": "SELECT * FROM {am}.zonemap_verify('ours.t_zones')",
}

# What may happen to a statement: it was cancelled, or chosen as a deadlock's
# victim; or its backend was told to end.
EXPECTED = ("57014", "40P01", "40001", "57P01", "57P02", "57P03")


class Storm:
    """Writers and keeper on a database whose server may be killed."""

    def __init__(
        self, database, am: str, rng: random.Random, switches: bool = False
    ) -> None:
        self.database, self.am, self.rng = database, am, rng
        self.switches = switches
        self.keeping = KEEPING | SWITCHES if switches else KEEPING
        self.aims = SWITCHING if switches else KINDS
        self.aim: str | None = None
        self.begun = threading.Event()
        self.target: psycopg.Connection | None = None
        self.errors: list[BaseException] = []
        self.seconds: dict[str, float] = {}
        self.number = 0
        self.lock = threading.Lock()
        self.stopping = False
        self.done = Counter()
        self.history: deque[str] = deque(maxlen=60)
        self.left: set[str] = set()
        twin = Twin(database, am)
        if switches:
            twin.ours.execute("SET default_table_access_method = heap")
        twin.ok("CREATE TABLE t (id int8 NOT NULL, w int, k int, v text)")
        twin.heap.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
        # Before 18 the server knows ON CONFLICT with a btree alone.
        if am == "sorted_heap" and twin.ours.info.server_version >= 180000:
            twin.ours.execute("CREATE UNIQUE INDEX t_zones ON t USING zonemap (id)")
        elif am == "sorted_heap":
            twin.ours.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
            twin.ours.execute("CREATE INDEX t_zones ON t USING zonemap (id)")
        else:
            twin.ours.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
            if not switches:
                twin.ours.execute(OPTIONS.format(am=am))
        twin.ok("CREATE INDEX ON t (v)")
        twin.ok("CREATE INDEX ON t (k) WHERE w >= 0")
        twin.ok(
            f"INSERT INTO t SELECT -i, -1, 0, '' FROM generate_series(1, {SHARED}) i"
        )

    # ---- the sessions ----

    def choose(self, rng: random.Random, kinds) -> str:
        """Mostly what is aimed at, if this session does it.

        Whether it is comes down to who is first; what is drawn must not.
        """
        aimed, kind = rng.random() < 0.7, rng.choice(list(kinds))
        if aimed and self.aim in kinds and not self.begun.is_set():
            return self.aim
        return kind

    @contextlib.contextmanager
    def doing(self, conn, kind: str):
        """A statement of a kind: the target, if aimed at."""
        started = time.monotonic()
        self.history.append(f"{conn.info.backend_pid} begins: {kind}")
        if kind == self.aim and not self.begun.is_set():
            self.target = conn
            self.begun.set()
        yield
        self.history.append(f"{conn.info.backend_pid} has done: {kind}")
        took = time.monotonic() - started
        self.seconds[kind] = 0.7 * self.seconds.get(kind, took) + 0.3 * took
        self.done[kind] += 1

    def write(self, conn, rng: random.Random, writer: int) -> None:
        kind, prepares = self.choose(rng, WRITES), rng.random() < 0.1
        with self.lock:
            self.number += 1
            n = self.number
        end = "COMMIT"
        # Nobody truncates a table that has prepared changes of others.
        if kind not in ("truncate", "count up") and prepares:
            end = f"PREPARE TRANSACTION '{n}'"
        with self.doing(conn, kind):
            conn.execute("BEGIN")
            for schema in (OURS, HEAP):
                for sql in WRITES[kind]:
                    conn.execute(
                        sql.format(t=f"{schema}.t", n=n, w=writer, shared=SHARED)
                        .replace(f"INTO {schema}.t", f"INTO {schema}.t AS t")
                        .replace(f" = {schema}.t.k", " = t.k")
                    )
            conn.execute(end)
            if end != "COMMIT":
                conn.execute(f"COMMIT PREPARED '{n}'")

    def keep(self, conn, rng: random.Random, _number: int) -> None:
        kind = self.choose(rng, self.keeping)
        if self.switches:
            heap = method(conn, "ours.t") == "heap"
            if heap and kind in ("release", "compact", "merge"):
                self.command(conn, "adopt")
            elif not heap and kind == "adopt":
                self.command(conn, "release")
        self.command(conn, kind)

    def command(self, conn, kind: str) -> None:
        with self.doing(conn, kind):
            conn.execute(self.keeping[kind].format(am=self.am))
        if kind == "adopt" and self.am != "sorted_heap":
            conn.execute(OPTIONS.format(am=self.am))

    def session(self, action, number: int, seed: str) -> None:
        rng = random.Random(seed)
        try:
            with self.database.connect() as conn:
                conn.execute("SET statement_timeout = '120s'")
                while not self.stopping:
                    try:
                        action(conn, rng, number)
                    except psycopg.Error as error:
                        if conn.closed or error.sqlstate is None:
                            raise
                        self.history.append(f"{conn.info.backend_pid}: {error}")
                        if error.sqlstate not in EXPECTED:
                            raise AssertionError(str(error)) from error
                        conn.execute("ROLLBACK")
        except psycopg.Error as error:
            if error.sqlstate not in (None, *EXPECTED):
                self.errors.append(error)
        except BaseException as error:
            self.errors.append(error)

    # ---- the strike ----

    def strike(self, how: str) -> str:
        """Let the sessions run, then hit them; returns what was hit.

        how: "server" and "backend" kill -9, "terminate" and "cancel" ask.
        """
        self.aim, self.stopping = None, False
        self.begun.clear()
        before = self.done.total()
        seed = self.rng.random()
        threads = [
            threading.Thread(
                target=self.session, args=(action, number, f"{seed}/{number}")
            )
            for number, action in enumerate([self.write] * WRITERS + [self.keep])
        ]
        for thread in threads:
            thread.start()
        few = self.rng.randrange(2, 12)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: self.done.total() >= before + few, "statements", 60)
        self.aim = self.rng.choice(self.aims)
        struck = self.begun.wait(300)
        if struck:
            witness = self.database.connect() if how == "backend" else None
            time.sleep(self.rng.random() * 1.2 * self.seconds.get(self.aim, 0.05))
            self.hit(how)
            if witness:
                # until the server has noticed, and ends all sessions
                with contextlib.suppress(psycopg.Error), witness:
                    witness.execute("SELECT pg_sleep(10)")
        self.stopping = True
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]
        assert struck, f"nobody came to: {self.aim}"
        return f"{how} during {self.aim}"

    def hit(self, how: str) -> None:
        cluster = self.database.cluster
        if how == "server":
            cluster.kill()
            return
        with contextlib.suppress(psycopg.Error, ProcessLookupError):
            if how == "cancel":
                self.target.cancel()
            else:
                os.kill(
                    self.target.info.backend_pid,
                    signal.SIGKILL if how == "backend" else signal.SIGTERM,
                )

    def calm(self, how: str) -> None:
        """The server is there again, and nothing is left in doubt."""
        cluster = self.database.cluster
        if how == "server":
            # Now and then the next recovery compares every page it replays; not
            # with zonemaps, whose notes are not logged (docs/limits.md).
            often = 0 if self.am == "sorted_heap" else 0.3
            check = "all" if self.rng.random() < often else ""
            cluster.configure(wal_consistency_checking=check)
            cluster.start()
        cluster.wait_ready()
        with self.database.connect() as conn:
            for (gid,) in conn.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
                end = self.rng.choice(["COMMIT", "ROLLBACK"])
                conn.execute(f"{end} PREPARED '{gid}'")
            # What REINDEX CONCURRENTLY left: some of it stays until the next
            # point, but no longer.  TRUNCATE would make it valid for ever.
            left = {
                index
                for (index,) in conn.execute(
                    "SELECT oid::regclass::text FROM pg_class"
                    " WHERE relkind = 'i' AND relname ~ '_cc(new|old)[0-9]*$'"
                )
            }
            for index in left if self.rng.random() < 0.5 else left & self.left:
                conn.execute(f"DROP INDEX {index}")
            self.left = left

            def alone() -> bool:
                # A worker may wait for a minute for what others held, and the
                # last commit's may only just have come.
                conn.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND backend_type ~ 'compaction'"
                )
                return (
                    conn.execute(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        " AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'"
                    ).fetchone()[0]
                    == 0
                )

            wait_until(alone, "the sessions' backends to end", 60)

    def check(self) -> None:
        """Contents, every index, and the table's own verifier."""
        twin = Twin(self.database, self.am)
        try:
            twin.check()
            # by a zonemap, too, which the heap twin has not
            twin.same(
                "SELECT id, w, k, v FROM t WHERE id >= -1000",
                plans=("index scans", "bitmap scans"),
            )
            if method(twin.ours, "ours.t") == "heap":
                nothing_left(twin.ours, "ours.t")
                if self.am != "sorted_heap":
                    return
            found = twin.ours.execute(
                VERIFY.get(self.am, VERIFY["store"]).format(am=self.am)
            )
            problems = found.fetchall()
            assert problems == [], f"verify: {problems}"
        finally:
            for conn in twin.conns.values():
                conn.close()
