"""Time limits that hold on a busy machine, and statements that run into one."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import psycopg


def processor(conn: psycopg.Connection) -> float:
    """Processor time that the connection's backend has used, in seconds."""
    stat = Path(f"/proc/{conn.info.backend_pid}/stat").read_text().rsplit(")", 1)[1]
    user, system = stat.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def ends_soon(conn: psycopg.Connection, seconds: float):
    """What is within takes the backend no more processor time than that: pauses of
    the machine and other processes do not count."""
    began, before = time.monotonic(), processor(conn)
    yield
    assert processor(conn) - before < seconds
    assert time.monotonic() - began < 60


def reset_timeout(conn: psycopg.Connection) -> None:
    """Without statement_timeout from now on.  A short one may end this, too."""
    for _ in range(1000):
        with contextlib.suppress(psycopg.errors.QueryCanceled):
            conn.execute("RESET statement_timeout")
            return
    raise AssertionError("RESET was cancelled each time")
