"""What the figures were taken on: versions, machine, server settings."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from bench.config import Config
from bench.lab import memory_bytes
from bench.systems import System

ROOT = Path(__file__).resolve().parent.parent


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _commit() -> str:
    """As git tells, or as ci/in-chroot.sh does, which copies files without git's."""
    if os.environ.get("STRATA_COMMIT"):
        return os.environ["STRATA_COMMIT"]
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def _load() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def describe(
    config: Config, connection: psycopg.Connection, systems: list[System]
) -> dict[str, Any]:
    """Facts for the report; `connection` is to any database of the server."""
    (version,) = connection.execute("SELECT version()").fetchone()
    settings = connection.execute(
        "SELECT name, current_setting(name) FROM pg_settings"
        " WHERE source NOT IN ('default', 'client', 'override')"
        " AND context <> 'internal' ORDER BY name"
    ).fetchall()
    extensions = connection.execute(
        "SELECT name, default_version FROM pg_available_extensions"
        " WHERE name = ANY(%s) ORDER BY name",
        ([system.extension for system in systems if system.extension],),
    ).fetchall()
    return {
        "commit": _commit(),
        "server": version,
        "extensions": dict(extensions),
        "DuckDB": duckdb.__version__,
        "machine": f"{_processor()}, {os.cpu_count()} CPUs,"
        f" {memory_bytes() / 2**30:.0f} GiB, Linux {platform.release()}",
        "load average at the start": _load(),
        "run": {
            name: str(value) if isinstance(value, Path) else value
            for name, value in asdict(config).items()
            if name not in ("results", "systems")
        },
        "server settings": dict(settings),
    }
