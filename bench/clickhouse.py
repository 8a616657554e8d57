"""ClickHouse as a system: the PyPI package chdb, in a process of its own.

chdb opens one directory per process, and its crash ends its process alone.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import multiprocessing
import shutil
import time
from pathlib import Path
from typing import Any

from bench.compare import Result
from bench.dataset import Query
from bench.engines import QueryFailed, QueryTimeout

START = (
    "CREATE DATABASE IF NOT EXISTS bench",
    "USE bench",
    "SET session_timezone = 'UTC'",
    "SET output_format_json_quote_64bit_integers = 0",
)
GRACE = 30.0  # seconds after its timeout when a query's process is ended


def version() -> str:
    """chdb's version; empty where it is not installed."""
    try:
        return importlib.metadata.version("chdb")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _serve(pipe, path: str) -> None:
    """Answer statements with milliseconds, the result as JSON, and an error."""
    from chdb.session import Session

    session = Session(path)
    with contextlib.suppress(EOFError):
        while True:
            sql = pipe.recv()
            start = time.perf_counter()
            try:
                found = session.query(sql, "JSONCompact").bytes()
                elapsed = (time.perf_counter() - start) * 1000
                pipe.send((elapsed, bytes(found or b""), ""))
            except Exception as error:
                pipe.send((0.0, b"", str(error)))
    session.close()


def _value(value: Any, kind: str) -> Any:
    if value is not None and "DateTime" in kind:
        return datetime.datetime.fromisoformat(value)
    return value


def _result(text: bytes) -> Result | None:
    if not text:
        return None
    found = json.loads(text)
    names, kinds = (
        tuple(column[part] for column in found["meta"]) for part in ("name", "type")
    )
    rows = [tuple(map(_value, row, kinds)) for row in found["data"]]
    return Result(names, kinds, rows)


class ClickHouseEngine:
    """A directory of ClickHouse; its process is started by the first statement.

    declared  the table's JSON column declares the paths that queries use
    """

    def __init__(self, path: Path, declared: bool) -> None:
        self.path = path
        self.declared = declared
        self._settings: dict[str, str] = {}
        self._process: multiprocessing.process.BaseProcess | None = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, str(self.path)), daemon=True
        )
        self._process.start()
        theirs.close()
        for sql in START:
            self._ask(sql, GRACE)
        for name, value in self._settings.items():
            self._ask(f"SET {name} = {value}", GRACE)

    def _ask(self, sql: str, timeout: float) -> tuple[float, bytes]:
        try:
            self._pipe.send(sql)
            if not self._pipe.poll(timeout + GRACE):
                self._end()
                raise QueryTimeout(f"more than {timeout:g} s")
            elapsed, found, error = self._pipe.recv()
        except (EOFError, OSError):
            self._end()
            raise QueryFailed("the process of ClickHouse ended") from None
        if "TIMEOUT_EXCEEDED" in error:
            raise QueryTimeout(f"more than {timeout:g} s")
        if error:
            raise QueryFailed(error.strip())
        return elapsed, found

    def _set(self, name: str, value: str) -> None:
        if self._settings.get(name) != value:
            self._settings[name] = value
            if self._process:
                self._ask(f"SET {name} = {value}", GRACE)

    def start_anew(self) -> None:
        """Throw the directory away."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def text(self, query: Query) -> str:
        """The query in ClickHouse's dialect."""
        return query.clickhouse[self.declared]

    def mode(self, workers: int) -> None:
        """Threads; one where there are no workers."""
        self._set("max_threads", str(max(1, workers)))
        self._set("input_format_parallel_parsing", str(int(workers > 0)))

    def timed(self, sql: str, timeout: float) -> tuple[Result | None, float]:
        """As Engine.timed(). The time is from sending the statement to having
        the whole result as text."""
        if self._process is None:
            self._start()
        self._set("max_execution_time", f"{timeout:g}")
        elapsed, found = self._ask(sql, timeout)
        return _result(found), elapsed

    def size(self) -> int:
        """Bytes of the tables' parts."""
        result, _ = self.timed(
            "SELECT sum(bytes_on_disk) FROM system.parts"
            " WHERE active AND database = 'bench'",
            GRACE,
        )
        return int(result.rows[0][0])

    def _end(self) -> None:
        """End the process, whatever it does."""
        self._pipe.close()
        if self._process:
            self._process.kill()
            self._process.join()
        self._process = None

    def close(self) -> None:
        """End the process when it has written all."""
        if self._process:
            self._pipe.close()
            self._process.join(GRACE)
            self._end()
