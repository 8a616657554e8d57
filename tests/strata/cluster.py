"""Throwaway clusters: made, started, crashed, restarted, removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg

from .server import Server
from .wait import wait_until

# Data are thrown away, so nothing needs to reach the disk; no TCP port is
# opened, so any number of clusters run side by side.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "max_connections": "40",
    "max_prepared_transactions": "10",
    "shared_buffers": "64MB",
    "max_wal_size": "512MB",
    "log_line_prefix": "%m [%p] %a ",
    "log_error_verbosity": "verbose",
    "timezone": "UTC",
    "dynamic_shared_memory_type": "mmap",
    # Disabled plans cost so much that each small query would be compiled.
    "jit": "off",
    # Nothing is at work that a test has not asked for: sizes, row groups and
    # plans are what its commands left.
    "autovacuum": "off",
    "colcompress.enable_auto_compact": "off",
    "rowcompress.enable_auto_compact": "off",
}

# For tests of background workers, and tests beside them.
WORKERS = {name: "on" for name in SETTINGS if name.endswith(".enable_auto_compact")}

# Lines of the server's log that make any test fail unless it says that it
# kills processes.
ALARMS = (
    "TRAP:",
    "PANIC:",
    "was terminated by signal",
    "server process (PID",
    "detected write past chunk end",
)


def _children(pid: int) -> list[int]:
    """Processes whose parent is `pid`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class Cluster:
    """A cluster in its own directory, reached by a Unix socket in it.

    `settings` are added to SETTINGS and written to postgresql.conf; None
    takes a setting out.  The superuser is "postgres", without a password.
    """

    def __init__(
        self, server: Server, directory: Path, settings: dict | None = None
    ) -> None:
        self.server = server
        self.directory = server.own(directory)
        self.data = directory / "data"
        self.socket = server.own(directory / "s")
        self.log = directory / "log"
        self.settings = SETTINGS | {"unix_socket_directories": str(self.socket)}
        self.settings |= settings or {}

    # ---- life ----

    def init(self, *args: str, like: Cluster | None = None) -> Cluster:
        """Make the data directory: by initdb with data checksums and `args`,
        or as a copy of that of a stopped cluster."""
        if like is not None:
            source, user = like.data, self.server.user
            subprocess.run(
                ["cp", "-a", "--reflink=auto", source, self.data], check=True
            )
            if os.getuid() == 0:
                subprocess.run(["chown", "-R", user, self.data], check=True)
        else:
            self.server.run(
                "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                "--locale=C.UTF-8", "--data-checksums", "--no-sync", "--no-instructions", *args,
            )  # fmt: skip
        return self

    def configure(self, **settings) -> None:
        """Change settings from the next start on."""
        self.settings |= settings

    def _write_settings(self) -> None:
        lines = [
            f"{name} = '{value}'\n"
            for name, value in self.settings.items()
            if value is not None
        ]
        path = self.data / "strata.conf"
        path.write_text("".join(lines))
        main = self.data / "postgresql.conf"
        if "strata.conf" not in main.read_text():
            with main.open("a") as file:
                file.write("include 'strata.conf'\n")
        if os.getuid() == 0:
            shutil.chown(path, self.server.user)

    def start(self, timeout: int = 180) -> Cluster:
        """Start and wait until it answers; RuntimeError with the log if not."""
        self._write_settings()
        before = self.log_size()
        try:
            self.server.run(
                "pg_ctl", "start", "-D", self.data, "-l", self.log, "-w", "-t", timeout, "-s",
                timeout=timeout + 30,
            )  # fmt: skip
        except RuntimeError as error:
            raise RuntimeError(
                f"{error}\nserver log:\n{self.log_since(before)}"
            ) from None
        return self

    def stop(self, mode: str = "fast") -> None:
        """Stop: "smart", "fast" or "immediate" (a crash without kill -9)."""
        self.server.run(
            "pg_ctl", "stop", "-D", self.data, "-m", mode, "-w", "-t", 180, "-s"
        )

    def restart(self) -> None:
        self.stop()
        self.start()

    def postmaster(self) -> int | None:
        """Process id of the running postmaster."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, IndexError, ValueError):
            return None
        return pid if _alive(pid) else None

    def kill(self) -> None:
        """kill -9 of the whole server, as a machine that loses power."""
        pid = self.postmaster()
        assert pid is not None, "the server does not run"
        os.kill(pid, signal.SIGSTOP)  # so that it starts no process meanwhile
        pids = [pid, *_children(pid)]
        for victim in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        wait_until(lambda: not any(map(_alive, pids)), "killed processes to be gone")
        # Where nobody reaps the dead postmaster, its pid looks in use.
        (self.data / "postmaster.pid").unlink()
        for lock in self.socket.glob(".s.*"):
            lock.unlink()

    def crash(self) -> None:
        """kill -9, then start again (with crash recovery)."""
        self.kill()
        self.start()

    def remove(self) -> None:
        """Stop at once if it runs, and remove the directory."""
        if self.postmaster() is not None:
            try:
                self.stop("immediate")
            except RuntimeError:
                self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def wait_ready(self) -> None:
        """Wait for the end of the recovery that a crashed backend causes."""

        def answers() -> bool:
            with contextlib.suppress(psycopg.OperationalError):
                self.connect().close()
                return True
            return False

        wait_until(answers, "the server to be ready", 60)

    # ---- talk ----

    def dsn(self, dbname: str = "postgres", user: str = "postgres") -> str:
        return f"host={self.socket} dbname={dbname} user={user}"

    def connect(self, dbname: str = "postgres", user: str = "postgres", **kwargs):
        """A psycopg connection, in autocommit mode unless told otherwise."""
        kwargs.setdefault("autocommit", True)
        return psycopg.connect(self.dsn(dbname, user), **kwargs)

    def run(self, program: str, *args, **kwargs):
        """Run a client program (pg_dump, psql, vacuumdb ...) against it."""
        env = self.server.environment() | {
            "PGHOST": str(self.socket),
            "PGUSER": "postgres",
        }
        return self.server.run(program, *args, env=env, **kwargs)

    # ---- the log ----

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def log_since(self, start: int, limit: int = 20_000) -> str:
        """What the server logged from byte `start` on; its end if too long."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(start)
            text = file.read().decode(errors="replace")
        return text if len(text) <= limit else "[...]\n" + text[-limit:]

    def alarms_since(self, start: int) -> list[str]:
        """Lines that tell of a crash, an assertion failure or a PANIC."""
        return [
            line
            for line in self.log_since(start, limit=10_000_000).splitlines()
            if any(alarm in line for alarm in ALARMS)
        ]


@contextlib.contextmanager
def running(cluster: Cluster) -> Iterator[Cluster]:
    """Start the cluster, and remove it at the end whatever happened."""
    try:
        yield cluster.start()
    finally:
        cluster.remove()
