"""DuckDB as a system: a database file opened in this process."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import duckdb

from bench.compare import Result
from bench.dataset import Query
from bench.engines import QueryFailed, QueryTimeout


class DuckDBEngine:
    """A DuckDB database file, opened in this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open()

    def _open(self) -> None:
        self._connection = duckdb.connect(str(self.path))
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET enable_progress_bar = false")

    def start_anew(self) -> None:
        """Throw the file away, so that its size holds nothing of old loads."""
        self.close()
        self.path.unlink()
        self._open()

    def text(self, query: Query) -> str:
        """The query in DuckDB's dialect."""
        return query.duckdb_sql

    def mode(self, workers: int) -> None:
        """Threads; one where there are no workers."""
        self._connection.execute(f"SET threads = {max(1, workers)}")

    def timed(self, sql: str, timeout: float) -> tuple[Result | None, float]:
        """As Engine.timed(). The time includes making the Python objects of
        the result, which DuckDB computes while they are fetched.
        """
        timer = threading.Timer(timeout, self._connection.interrupt)
        timer.start()
        try:
            start = time.perf_counter()
            cursor = self._connection.execute(sql)
            rows = cursor.fetchall()
            elapsed = (time.perf_counter() - start) * 1000
        except duckdb.InterruptException:
            raise QueryTimeout(f"more than {timeout:g} s") from None
        except duckdb.Error as error:
            raise QueryFailed(str(error).strip()) from error
        finally:
            timer.cancel()
        description = cursor.description or ()
        return (
            Result(
                names=tuple(column[0] for column in description),
                types=tuple(str(column[1]) for column in description),
                rows=rows,
            ),
            elapsed,
        )

    def size(self) -> int:
        """Bytes of the database file after a checkpoint."""
        self._connection.execute("CHECKPOINT")
        return self.path.stat().st_size

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
