"""What one run of the benchmark does, taken from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Config:
    """Settings of a run.

    rows       rows of the events table
    systems    names of the systems asked for; empty: all that are installed
    datasets   some of "events", "flights", "sorted", "pgbench", in the order
               they run
    runs       measured rounds per query, after one warm-up round
    load_runs  rounds of INSERT ... SELECT, COPY, UPDATE and DELETE
    workers    workers per Gather (and DuckDB threads) in parallel mode
    timeout    seconds a query may take before its cell says "timeout"
    cell       seconds of measuring after which a slow query gets no more
               rounds, whatever `runs` says
    pgbench    single-row transactions per client in the write section
    tpcb       seconds per round of pgbench's own scripts
    documents  measure zson, too
    """

    rows: int = 1_000_000
    systems: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ("events", "flights", "sorted", "pgbench")
    runs: int = 5
    load_runs: int = 3
    workers: int = 2
    timeout: float = 60.0
    cell: float = 30.0
    pgbench: int = 20_000
    tpcb: int = 3
    documents: bool = True
    results: Path = field(default=RESULTS)

    @property
    def load_timeout(self) -> float:
        """Seconds a load or an index build may take."""
        return 20 * self.timeout


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(",", " ").split() if name)


def _positive(env: dict[str, str], name: str, default, kind):
    text = env.get(name, "").replace("_", "")
    if not text:
        return default
    try:
        value = kind(text)
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a number") from None
    if value <= 0:
        raise ValueError(f"{name} must be greater than zero, not {text}")
    return value


def from_environment(env: dict[str, str] | None = None) -> Config:
    """Read ROWS, SYSTEMS, DATASETS, RUNS, LOAD_RUNS, WORKERS, TIMEOUT, CELL,
    PGBENCH, TPCB, ZSON and RESULTS; raise ValueError on a value that makes no sense.

    The default timeout grows with the rows, so that only a system much slower
    than the others meets it.
    """
    env = dict(os.environ) if env is None else env
    base = Config()
    rows = _positive(env, "ROWS", base.rows, int)
    timeout = base.timeout * max(1.0, rows / base.rows)
    datasets = _names(env.get("DATASETS", "")) or base.datasets
    unknown = sorted(set(datasets) - set(base.datasets))
    if unknown:
        raise ValueError(f"DATASETS: unknown data set {unknown[0]!r}")
    return Config(
        rows=rows,
        systems=_names(env.get("SYSTEMS", "")),
        datasets=datasets,
        runs=_positive(env, "RUNS", base.runs, int),
        load_runs=_positive(env, "LOAD_RUNS", base.load_runs, int),
        workers=_positive(env, "WORKERS", base.workers, int),
        timeout=_positive(env, "TIMEOUT", timeout, float),
        cell=_positive(env, "CELL", base.cell, float),
        pgbench=_positive(env, "PGBENCH", base.pgbench, int),
        tpcb=_positive(env, "TPCB", base.tpcb, int),
        documents=env.get("ZSON", "1") != "0",
        results=Path(env.get("RESULTS", "") or base.results),
    )
