"""Random statements of several sessions on a table and on its heap twin.

Sessions at all isolation levels wait for each other, deadlock, roll back to
savepoints and catch errors in plpgsql, while vacuum and compaction go on
beside them; between the rounds of such play come statements on many rows and
DDL.  FUZZ_ROUNDS says how long (1 is about fifteen seconds), SEED repeats a run.
"""

from __future__ import annotations

import contextlib
import os

import pytest
from strata.lockstep import Lockstep, Player
from strata.twin import Twin

ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "2"))
STEPS = 120
PLAYERS = 3
ROWS = 3000

LEVELS = ["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]

# One row each, so that both twins take the same locks in the same order.
# {id} is mostly one of few rows, {new} an id that nobody has used.
WRITES = [
    "UPDATE t SET k = k + 1 WHERE id = {id}",
    "UPDATE t SET k = k + 1, v = v || '{n}' WHERE id = {id} RETURNING id, k",
    "UPDATE t SET id = {new} WHERE id = {id}",
    "UPDATE t SET v = NULL WHERE id = {id} AND k % 2 = 0",
    "DELETE FROM t WHERE id = {id}",
    "DELETE FROM t WHERE id = {id} AND k % 3 = 0 RETURNING v",
    "INSERT INTO t VALUES ({id}, {n}, 'again')",
    "INSERT INTO t VALUES ({new}, {n}, 'new')",
    "INSERT INTO t VALUES ({id}, {n}, 'or not') ON CONFLICT DO NOTHING",
    "INSERT INTO t VALUES ({id}, {n}, 'up') ON CONFLICT (id) DO UPDATE SET k = t.k + excluded.k",
    "INSERT INTO c VALUES ({n}, {id})",
    "DELETE FROM c WHERE t_id = {id}",
    "MERGE INTO t USING (VALUES ({id})) s (id) ON t.id = s.id"
    " WHEN MATCHED AND k % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET k = k + 7"
    " WHEN NOT MATCHED THEN INSERT VALUES (s.id, {n}, 'merged')",
    "DO $$ BEGIN INSERT INTO t VALUES ({id}, {n}, 'do');"
    " EXCEPTION WHEN unique_violation THEN UPDATE t SET k = -k WHERE id = {id}; END $$",
    "INSERT INTO t SELECT {new} + i, i % 50, 'load' FROM generate_series(1, 1300) i",
    "DO $$ BEGIN UPDATE t SET k = k + 100 WHERE id = {id}; PERFORM 1 / 0;"
    " EXCEPTION WHEN division_by_zero THEN NULL; END $$",
]  # fmt: skip
LOCKS = [
    f"SELECT * FROM t WHERE id = {{id}} FOR {strength}{wait}"
    for strength in ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")
    for wait in ("", "", " NOWAIT", " SKIP LOCKED")
]
READS = [
    "SELECT * FROM t WHERE id = {id}",
    "SELECT count(*), sum(k), count(v) FROM t",
    "SELECT * FROM t WHERE id BETWEEN {id} AND {id} + 20",
    "SELECT k, count(*) FROM t WHERE k BETWEEN 5 AND 9 GROUP BY k",
    "SELECT t.id, c.n FROM t JOIN c ON c.t_id = t.id",
]
CONTROL = ["SAVEPOINT s", "ROLLBACK TO s", "RELEASE s", "COMMIT", "COMMIT", "ROLLBACK"]

# Many rows; only while no other session has a transaction open.
ALONE = [
    "INSERT INTO t SELECT {new} + i, i % 50, 'bulk {n}' FROM generate_series(1, 1500) i",
    "INSERT INTO t SELECT {new} + i, i % 50, 'few {n}' FROM generate_series(1, 90) i",
    "UPDATE t SET v = 'many {n}' WHERE id % 11 = {n} % 11",
    "UPDATE t SET k = k + 1",
    "DELETE FROM t WHERE k % 13 = {n} % 13",
    "CREATE INDEX ON t (v, k)",
    "CREATE INDEX ON t (k) WHERE v IS NOT NULL",
    "REINDEX TABLE t",
    "VACUUM FULL t",
    "ALTER TABLE t ADD COLUMN a{n} int DEFAULT {n}",
    "ALTER TABLE t ALTER v TYPE varchar(300)",
    "ALTER TABLE t ALTER k TYPE bigint",
    "TRUNCATE t CASCADE",
]
MAINTENANCE = [
    "VACUUM t",
    "ANALYZE t",
    "CALL {am}.compact('t')",
    "CALL {am}.merge('t')",
    "CALL {am}.merge('t')",
]


class Fuzz:
    """One run: the players, the generator, and what it must remember."""

    def __init__(self, twin: Twin, rng) -> None:
        self.twin = twin
        self.rng = rng
        self.stage = Lockstep(twin.database, twin.am, PLAYERS)
        self.keeper = twin.session()  # does maintenance
        self.keeper.ours.execute(
            "SET statement_timeout = '180s'"
        )  # it waits for nobody
        self.number = 0
        self.loaded: list[int] = []  # ids of rows that were loaded lately
        self.moved = 0  # step of the last compaction

    def fill(self, pattern: str) -> str:
        self.number += 1
        few = self.rng.random() < 0.7
        row = self.rng.choice(
            [1, 2, 3, ROWS, ROWS + 2, ROWS + 3, ROWS // 2, *self.loaded]
        )
        if "generate_series" in pattern:
            self.loaded = [*self.loaded, ROWS + 2000 * self.number + 1290][-3:]
        return pattern.format(
            id=row if few else self.rng.randrange(1, ROWS + 100),
            new=ROWS + 2000 * self.number,
            n=self.number,
        )

    def finish(self, player: Player, outcomes) -> None:
        """What a settled statement means for the player."""
        if outcomes is None:
            return
        ours, heap = outcomes
        moved = (
            player.level not in (None, "READ COMMITTED") and self.moved > player.since
        )
        if player.sql.startswith("PREPARE"):
            self.end_prepared(player, ours, heap)
        self.stage.compare(player, ours, heap, moved)
        if player.sql.startswith(("PREPARE", "COMMIT")) or player.sql == "ROLLBACK":
            player.level, player.failed, player.savepoints = None, False, 0
        elif player.sql == "ROLLBACK TO s" and not ours.sqlstate:
            player.failed = False
        elif player.sql == "SAVEPOINT s" and not ours.sqlstate:
            player.savepoints += 1
        elif player.sql == "RELEASE s" and not ours.sqlstate:
            player.savepoints -= 1

    def commit(self, player: Player) -> str:
        """A serializable transaction may be cancelled by its COMMIT, on one side
        alone: it is prepared first, and committed if that worked on both."""
        if player.level == "SERIALIZABLE" or self.rng.random() < 0.1:
            name = f"{self.twin.database.name}/{player.number}"
            return f"PREPARE TRANSACTION '{name}/{{twin}}'"
        return "COMMIT"

    def end_prepared(self, player: Player, ours, heap) -> None:
        both = not ours.sqlstate and not heap.sqlstate
        end = "COMMIT PREPARED" if both else "ROLLBACK PREPARED"
        sql = player.sql.replace("PREPARE TRANSACTION", end)
        for (twin, conn), outcome in zip(
            player.session.conns.items(), (ours, heap), strict=True
        ):
            if not outcome.sqlstate:
                conn.execute(sql.replace("{twin}", twin))

    def statement(self, player: Player) -> str:
        """What the player does next."""
        choose = self.rng.random()
        if player.level is None:
            if choose < 0.75:
                player.level = self.rng.choice(LEVELS)
                player.since = self.number
                return f"BEGIN ISOLATION LEVEL {player.level}"
        elif player.failed:
            # One side alone may have failed: a savepoint cannot mend that.
            return "ROLLBACK"
        elif choose < 0.25:
            sql = self.rng.choice(CONTROL)
            if sql == "COMMIT":
                return self.commit(player)
            if player.savepoints or not sql.endswith(" s") or sql.startswith("SAVE"):
                return sql
        kind = self.rng.choices([WRITES, LOCKS, READS], [5, 3, 3])[0]
        sql = self.fill(self.rng.choice(kind))
        if player.level is None and (
            "KEY SHARE" in sql or sql.startswith("INSERT INTO c")
        ):
            return self.fill(READS[0])  # what may wait needs something to roll back
        return sql

    def step(self) -> None:
        for player in self.stage.players:
            if player.waits:
                self.finish(player, self.stage.outcome(player))
        free = [p for p in self.stage.players if not p.waits]
        assert free, f"everybody waits\n{self.stage.tail()}"
        if self.rng.random() < 0.08:
            self.maintain()
        player = self.rng.choice(free)
        self.finish(player, self.stage.play(player, self.statement(player)))

    def maintain(self) -> None:
        sql = self.rng.choice(MAINTENANCE).format(am=self.twin.am)
        self.stage.history.append(f"maintenance: {sql}")
        self.number += 1
        if sql.startswith("CALL"):
            self.keeper.ours.execute(sql)
            self.moved = self.number
        else:
            for conn in self.keeper.conns.values():
                conn.execute(sql)

    def settle_all(self) -> None:
        """Everybody ends; whoever waits is let go by the others."""
        while any(p.level or p.waits for p in self.stage.players):
            for player in self.stage.players:
                if player.waits:
                    self.finish(player, self.stage.outcome(player))
                if player.level and not player.waits:
                    end = "ROLLBACK" if player.failed else self.commit(player)
                    self.finish(player, self.stage.play(player, end))

    def alone(self) -> None:
        for _ in range(self.rng.randrange(1, 5)):
            sql = self.fill(self.rng.choice(ALONE))
            self.stage.history.append(f"alone: {sql}")
            self.keeper.run(sql)
        self.maintain()


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_sessions_in_lockstep(twin, rng, round_):
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
    twin.ok(
        "CREATE TABLE c (n int PRIMARY KEY, t_id int REFERENCES t ON DELETE CASCADE)"
    )
    twin.ok("CREATE INDEX ON t (k)")
    twin.ok(
        f"INSERT INTO t SELECT i, i % 50, 'row ' || i FROM generate_series(1, {ROWS}) i"
    )
    twin.ok(
        f"INSERT INTO t SELECT {ROWS} + i, i % 50, 'delta' FROM generate_series(1, 5) i"
    )
    fuzz = Fuzz(twin, rng)
    with contextlib.closing(fuzz.stage):
        try:
            for part in range(3):
                for _ in range(STEPS):
                    fuzz.step()
                fuzz.settle_all()
                fuzz.alone()
                for table in ("t", "c"):
                    fuzz.keeper.check(table)
                problems = twin.ours.execute(
                    f"SELECT * FROM {twin.am}.verify('t')"
                ).fetchall()
                assert problems == [], f"part {part}"
        except Exception:
            print(fuzz.stage.tail(200))
            raise
