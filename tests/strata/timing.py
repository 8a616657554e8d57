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


def _kept_waiting(pid: int) -> float:
    """Seconds that a process was ready to run while others had the processors; 0
    where the kernel does not count them."""
    with contextlib.suppress(FileNotFoundError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def clock(conn: psycopg.Connection) -> float:
    """A clock, in seconds, that stands while the connection's backend, or this
    process, waits for a processor.  Sleeping counts, other processes do not."""
    waited = _kept_waiting(conn.info.backend_pid) + _kept_waiting(os.getpid())
    return time.monotonic() - waited


@contextlib.contextmanager
def ends_soon(conn: psycopg.Connection, seconds: float):
    """What is within takes no longer than that, by clock()."""
    began = clock(conn)
    yield
    assert clock(conn) - began < seconds


def reset_timeout(conn: psycopg.Connection) -> None:
    """Without statement_timeout from now on.  A short one may end this, too."""
    for _ in range(1000):
        with contextlib.suppress(psycopg.errors.QueryCanceled):
            conn.execute("RESET statement_timeout")
            return
    raise AssertionError("RESET was cancelled each time")
