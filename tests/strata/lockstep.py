"""Concurrent sessions in lockstep on a table of ours and on its heap twin.

A Player is one session, with a connection per twin.  play() sends a statement
to both connections and returns when both are settled: finished, or waiting for
a lock.  Both must do the same, and finish alike.  A player that waits is
settled again, with all others, after every step, for somebody may have let it go.

What may differ, and how it is told:
- a serializable transaction may be cancelled on one side alone, because SSI
  locks pages and those differ: the player is then `failed` and rolls back;
- a transaction with an old snapshot may fail with 40001 on our side alone
  when compaction has moved its row; the caller says when that can be so;
- FOR KEY SHARE, and so a foreign key's check, may wait on our side alone for a
  transaction that has updated the row more than once; with NOWAIT it fails then,
  with SKIP LOCKED it leaves the row out;
- FOR KEY SHARE of a row that a transaction has first updated and then deleted
  waits for it on heap's side, even with NOWAIT or SKIP LOCKED: heap follows the
  row's versions and asks for no wait policy there;
- a foreign key's check may find a row that was deleted since, and fail with 40001
  on heap's side alone, if the transaction itself has inserted the key again: the
  two are met in the order of their places.

Either way it may be a deadlock on one side alone, with a player that waits.

In all these cases the transaction is rolled back on both sides.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from .twin import HEAP, OURS, Outcome, Session, execute, same_rows

SERIALIZATION_FAILURE = "40001"
LOCK_NOT_AVAILABLE = "55P03"
DEADLOCK = "40P01"

# Statements whose foreign keys lock rows of the table.
KEY_SHARE = "INSERT INTO c"

# A waiting backend looks for deadlocks once, after this time.  Nobody moves
# before it has looked, so that it is always the last to come who is cancelled.
DEADLOCK_TIMEOUT = 0.05


def left_locked(sql: str, outcome: Outcome) -> bool:
    """Whether a row was locked, and the statement did not wait for it."""
    if "NOWAIT" in sql:
        return outcome.sqlstate == LOCK_NOT_AVAILABLE
    return "SKIP LOCKED" in sql and not outcome.sqlstate and outcome.count == 0


def locked_by_ours(sql: str, ours: Outcome, heap: Outcome) -> bool:
    """Whether FOR KEY SHARE would have had to wait on our side alone, but may not."""
    return "FOR KEY SHARE" in sql and not heap.sqlstate and left_locked(sql, ours)


def deadlock_of_key_share(sql: str, ours: Outcome, heap: Outcome) -> bool:
    """Whether one side alone had to wait for a key lock, and for somebody who waits
    for this player."""
    if "FOR KEY SHARE" not in sql:
        return sql.startswith(KEY_SHARE) and (ours.sqlstate, heap.sqlstate) == (
            DEADLOCK,
            None,
        )
    if ours.sqlstate == DEADLOCK:
        return heap.sqlstate is None and "NOWAIT" not in sql and "SKIP" not in sql
    return heap.sqlstate == DEADLOCK and left_locked(sql, ours)


def sees_key_twice(player: Player, ours: Outcome, heap: Outcome) -> bool:
    """Whether its snapshot has a row that was deleted since, beside its own with that key.

    A foreign key's check locks the one that an index scan meets first.
    """
    if not player.sql.startswith(KEY_SHARE) or ours.sqlstate:
        return False
    if player.level is None or heap.sqlstate != SERIALIZATION_FAILURE:
        return False
    key = re.findall(r"\d+", player.sql)[-1]
    seen = player.session.conns[OURS].execute(
        f"SELECT count(*) FROM t WHERE id = {key}"
    )
    return seen.fetchone()[0] > 1


class Player:
    """One session of both twins."""

    def __init__(self, number: int, database, am: str) -> None:
        self.number = number
        self.session = Session(database, am)
        self.threads = {name: ThreadPoolExecutor(1) for name in (OURS, HEAP)}
        self.futures: dict[str, Future[Outcome]] = {}
        self.sql = ""
        self.level: str | None = None  # isolation level of an open transaction
        self.savepoints = 0
        self.excused = False  # its waiting was a difference that may be
        self.failed = False  # the transaction waits for its ROLLBACK
        self.since = 0  # step of its snapshot
        for conn in self.session.conns.values():
            conn.execute(f"SET deadlock_timeout = '{DEADLOCK_TIMEOUT}s'")

    @property
    def waits(self) -> bool:
        return bool(self.futures)

    def send(self, sql: str) -> None:
        """Start a statement on both; {twin} in it is the twin's name."""
        self.sql = sql
        self.futures = {
            name: self.threads[name].submit(execute, conn, sql.replace("{twin}", name))
            for name, conn in self.session.conns.items()
        }

    def close(self) -> None:
        for name, conn in self.session.conns.items():
            if self.futures:
                conn.cancel()
            self.threads[name].shutdown()
            conn.close()
        self.futures = {}


class Lockstep:
    """All players, and the connection that watches them."""

    def __init__(self, database, am: str, players: int) -> None:
        self.watcher = database.connect()
        self.players = [Player(n, database, am) for n in range(players)]
        self.history: list[str] = []

    def close(self) -> None:
        for player in self.players:
            player.close()
        self.watcher.close()

    def _waiting(self, pids: list[int]) -> set[int]:
        """Those of the backends that wait for a lock somebody holds."""
        return {
            pid
            for (pid,) in self.watcher.execute(
                "SELECT pid FROM pg_stat_activity WHERE pid = ANY(%s)"
                " AND wait_event_type = 'Lock' AND pg_blocking_pids(pid) <> '{}'",
                [pids],
            )
        }

    def _states(self, player: Player) -> dict[str, str]:
        """Of each twin: done, waits, or runs."""
        pids = {n: c.info.backend_pid for n, c in player.session.conns.items()}
        open_pids = [pids[n] for n, f in player.futures.items() if not f.done()]
        waiting = self._waiting(open_pids) if open_pids else set()
        return {
            name: "done"
            if future.done()
            else "waits"
            if pids[name] in waiting
            else "runs"
            for name, future in player.futures.items()
        }

    def _asleep(self, player: Player) -> bool:
        """Whether both backends sleep.  One whose timer has gone off, and that has
        had no processor since, does not."""
        for conn in player.session.conns.values():
            stat = Path(f"/proc/{conn.info.backend_pid}/stat").read_text()
            if stat.rsplit(")", 1)[1].split()[0] != "S":
                return False
        return True

    def _tolerable(self, player: Player, states: dict[str, str]) -> str | None:
        """The twin whose waiting is one of the differences the banner lists."""
        if player.level is None or set(states.values()) != {"done", "waits"}:
            return None
        waiting = OURS if states[OURS] == "waits" else HEAP
        other = HEAP if waiting == OURS else OURS
        if (
            player.level != "READ COMMITTED"
            and player.futures[other].result().sqlstate == SERIALIZATION_FAILURE
        ):
            return waiting
        if waiting == OURS and player.sql.startswith(KEY_SHARE):
            return waiting
        if "FOR KEY SHARE" not in player.sql:
            return None
        if waiting == HEAP and not left_locked(
            player.sql, player.futures[OURS].result()
        ):
            return None
        return waiting

    def settle(self, player: Player, timeout: float = 120.0) -> bool:
        """Wait until both twins are done (True) or both wait (False)."""
        for future in player.futures.values():
            try:
                future.exception(timeout=0.002)
            except TimeoutError:
                break
        start = time.monotonic()
        waited_since = None
        while True:
            states = self._states(player)
            now = time.monotonic()
            if set(states.values()) == {"done"}:
                return True
            if set(states.values()) == {"waits"}:
                waited_since = waited_since or now
                late = now - waited_since > 2.5 * DEADLOCK_TIMEOUT
                if late and self._asleep(player):
                    return False
            else:
                waited_since = None
                odd = now > start + 1 and self._tolerable(player, states)
                if odd:
                    player.session.conns[odd].cancel()
                    player.excused = True
            assert now < start + timeout, (
                f"twins do not agree on waiting: {states}\n{self.tail()}"
            )
            time.sleep(0.003)

    def tail(self, lines: int = 60) -> str:
        return "\n".join(self.history[-lines:])

    def play(self, player: Player, sql: str) -> tuple[Outcome, Outcome] | None:
        """Both outcomes, or None when the player has to wait.

        Only one waits at a time: which of two goes first is a matter of luck,
        so the second one's statement is cancelled.
        """
        self.history.append(f"s{player.number}: {sql}")
        others_wait = any(p.waits for p in self.players)
        player.send(sql)
        outcome = self.outcome(player)
        if outcome is None and others_wait:
            for conn in player.session.conns.values():
                conn.cancel()
            outcome = self.outcome(player)
            assert outcome is not None, f"cancelled in vain\n{self.tail()}"
        return outcome

    def outcome(self, player: Player) -> tuple[Outcome, Outcome] | None:
        if not self.settle(player):
            return None
        ours, heap = (player.futures[name].result() for name in (OURS, HEAP))
        player.futures = {}
        self.history.append(f"s{player.number}:   ours {ours}; heap {heap}")
        return ours, heap

    def compare(
        self, player: Player, ours: Outcome, heap: Outcome, moved: bool
    ) -> None:
        """Fail unless the outcomes are equal; `moved` as the banner says.

        Marks the player failed when its transaction has.  If that is so on one
        side alone, it is rolled back at once on both, lest others find a lock
        on one side only.
        """
        if player.level is not None and (ours.sqlstate or heap.sqlstate):
            player.failed = True
        excused, player.excused = player.excused, False
        if SERIALIZATION_FAILURE in (ours.sqlstate, heap.sqlstate):
            excused |= player.level == "SERIALIZABLE"
            excused |= moved and ours.sqlstate == SERIALIZATION_FAILURE
        excused |= player.level is not None and locked_by_ours(player.sql, ours, heap)
        excused |= sees_key_twice(player, ours, heap)
        excused |= any(p.waits for p in self.players) and deadlock_of_key_share(
            player.sql, ours, heap
        )
        same = (ours.sqlstate, ours.count) == (heap.sqlstate, heap.count)
        if excused:
            if not same and not player.sql.startswith("PREPARE"):
                self.play(player, "ROLLBACK")
                player.level, player.failed = None, False
            return
        assert same, (
            f"s{player.number}: {player.sql}\n  ours: {ours}\n  heap: {heap}\n"
            + self.tail()
        )
        if ours.rows is not None:
            same_rows(
                ours.rows, heap.rows, f"s{player.number}: {player.sql}\n{self.tail()}"
            )
