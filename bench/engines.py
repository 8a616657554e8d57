"""A connection to a system: run a statement, time it, fetch its result."""

from __future__ import annotations

import time
from typing import Any, Protocol

import psycopg

from bench.compare import Result
from bench.dataset import Query

RECOVERY_SECONDS = 60.0  # how long to wait for a server that crashed


class QueryTimeout(Exception):
    """The statement was cancelled at its timeout."""


class QueryFailed(Exception):
    """The statement ended in an error; the message is the system's own."""


class Engine(Protocol):
    """What the measuring loop needs of a system."""

    def text(self, query: Query) -> str:
        """The query in the system's dialect."""

    def mode(self, workers: int) -> None:
        """Serial mode (0 workers), or parallel with that many."""

    def timed(self, sql: str, timeout: float) -> tuple[Result | None, float]:
        """Run one statement; its result and the milliseconds it took.

        Raises QueryTimeout after `timeout` seconds, QueryFailed on an error.
        """

    def close(self) -> None:
        """End the session."""


class PostgresEngine:
    """A session of a PostgreSQL database.

    A lost connection (the server crashed or was restarted) is opened again by
    the next statement, with the settings it had.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._settings: dict[str, str] = {}
        self._connection: psycopg.Connection | None = None

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
            for name, value in self._settings.items():
                self._set(name, value)
        return self._connection

    def _connect(self) -> psycopg.Connection:
        """A connection that prepares nothing behind our back: each run is
        planned, as psql's. Waits while the server recovers from a crash."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            try:
                return psycopg.connect(
                    self._dsn, autocommit=True, prepare_threshold=None
                )
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _set(self, name: str, value: str) -> None:
        self._connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def configure(self, **settings: Any) -> None:
        """Set server parameters for the session."""
        self._connected()
        for name, value in settings.items():
            self._settings[name] = str(value)
            self._set(name, str(value))

    def text(self, query: Query) -> str:
        """The query as it stands."""
        return query.sql

    def mode(self, workers: int) -> None:
        """Workers per Gather; jit is off where there are none, else on."""
        self.configure(
            jit="on" if workers else "off",
            max_parallel_workers_per_gather=workers,
        )

    def timed(self, sql: str, timeout: float) -> tuple[Result | None, float]:
        """As Engine.timed(). The time is from sending the statement to having
        the whole result in the client's memory; turning it into Python
        objects is not in it.
        """
        try:
            try:
                return self._run(sql, timeout)
            except psycopg.errors.CrashShutdown:
                # Another session crashed the server: this one is innocent.
                return self._run(sql, timeout)
        except psycopg.errors.QueryCanceled:
            raise QueryTimeout(f"more than {timeout:g} s") from None
        except psycopg.Error as error:
            raise QueryFailed(str(error).strip()) from error

    def _run(self, sql: str, timeout: float) -> tuple[Result | None, float]:
        wanted = str(int(timeout * 1000))
        if self._settings.get("statement_timeout") != wanted:
            self.configure(statement_timeout=wanted)
        with self._connected().cursor() as cursor:
            start = time.perf_counter()
            cursor.execute(sql)
            elapsed = (time.perf_counter() - start) * 1000
            return _postgres_result(cursor), elapsed

    def rows(self, sql: str, timeout: float = 0) -> list[tuple]:
        """Rows of a statement that is not measured; 0: no timeout."""
        result, _ = self.timed(sql, timeout)
        return result.rows if result else []

    def close(self) -> None:
        """End the session."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _postgres_result(cursor: psycopg.Cursor) -> Result | None:
    if cursor.description is None:
        return None
    raw = cursor.pgresult
    columns = range(raw.nfields)
    return Result(
        names=tuple(column.name for column in cursor.description),
        types=tuple(raw.ftype(column) for column in columns),
        rows=cursor.fetchall(),
        texts=[
            tuple(raw.get_value(row, column) for column in columns)
            for row in range(raw.ntuples)
        ],
    )
