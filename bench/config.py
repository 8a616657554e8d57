"""What one run of the benchmark does, taken from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.bluesky import files
from bench.sections import JSONBENCH, WAREHOUSE
from bench.systems import CLICKHOUSE

RESULTS = Path(__file__).resolve().parent / "results"


# What runs unless DATASETS says which, what `make bench-full` runs besides its
# scales, and what needs files or time of its own.
SUMMARY = "summary"
FULL = ("events", "flights", "sorted", "pgbench", "zson")
ON_DEMAND = ("live", "switch", "clickbench", "tpch", JSONBENCH, WAREHOUSE)

JSON_ROWS = 500_000  # of jsonbench, where it runs alone
FIRST_LOOK = 8  # the summary's first verdict is of an eighth of its rows


@dataclass(frozen=True)
class Live:
    """How long and how fast rows change in the data set "live".

    minutes  of writing
    rate     rounds per second that the writers begin, all together
    probe    seconds from one probe to the next
    rest     seconds without any command, before the last probe
    held     seconds for which a snapshot is held open beside the writers
    """

    minutes: float = 10.0
    rate: int = 2000
    probe: float = 30.0
    rest: float = 60.0
    held: float = 0.0


@dataclass(frozen=True)
class Config:
    """Settings of a run.

    rows       rows of the events table; lines of sales of warehouse
    systems    names of the systems asked for; empty: all that are installed
    datasets   SUMMARY, or some of FULL and ON_DEMAND, in the order they run
    runs       measured rounds per query, after one warm-up round
    load_runs  rounds of INSERT ... SELECT, COPY, UPDATE and DELETE
    workers    workers per Gather (and DuckDB threads) in parallel mode
    timeout    seconds a query may take before its cell says "timeout"
    cell       seconds of measuring after which a slow query gets no more
               rounds, whatever `runs` says
    pgbench    single-row transactions per client in the write section
    tpcb       seconds per round of pgbench's own scripts
    live       minutes, rounds per second, seconds between probes and of rest of
               the data set "live"
    switch_rate
               transactions per second of the writers of the data set "switch"
    switch_cost
               vacuum_cost_limit of its merge() and release()
    clickbench, hits
               directory of ClickBench's files, and a file of its rows; None: rows
               are made by the directory's hits.py
    tpch, scale
               directory of TPC-H's queries.json, and the scale factor
    jsonbench  file of JSON documents, one a line, or directory of such files;
               None: they are made
    """

    rows: int = 1_000_000
    systems: tuple[str, ...] = ()
    datasets: tuple[str, ...] = FULL
    runs: int = 5
    load_runs: int = 3
    workers: int = 2
    timeout: float = 60.0
    cell: float = 30.0
    pgbench: int = 20_000
    tpcb: int = 3
    live: Live = field(default_factory=Live)
    switch_rate: int = 1000
    switch_cost: int = 200
    clickbench: Path | None = None
    hits: Path | None = None
    tpch: Path | None = None
    scale: float = 1.0
    jsonbench: Path | None = None
    results: Path = field(default=RESULTS)

    @property
    def documents(self) -> int:
        """Documents of zson in the summary; 0: as many as bench.zson takes."""
        return self.rows // 100 if SUMMARY in self.datasets else 0

    @property
    def first_look(self) -> Config:
        """The same with the rows of the summary's first verdict."""
        return replace(self, rows=max(1, self.rows // FIRST_LOOK))

    @property
    def load_timeout(self) -> float:
        """Seconds a load or an index build may take."""
        return 20 * self.timeout


# The summary has minutes.
# What sorted_heap is for are keys in order, which it measures apart.
_SUMMARY = Config(
    systems=("colcompress", "rowcompress", "duckdb"),
    datasets=(SUMMARY,),
    load_runs=1,
    tpcb=2,
)


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


def _directory(env: dict[str, str], name: str, file: str) -> Path:
    """The directory that the variable names; `file` must be below it."""
    path = Path(env.get(name, ""))
    if not env.get(name) or not any(path.glob(file)):
        raise ValueError(f"{name}: not a directory with {file}: {env.get(name, '')!r}")
    return path.resolve()


def _on_demand(env: dict[str, str], datasets: tuple[str, ...]) -> dict:
    """Settings of the data sets that run on demand."""
    base = Live()
    found: dict = {
        "live": Live(
            minutes=_positive(env, "LIVE_MINUTES", base.minutes, float),
            rate=_positive(env, "LIVE_RATE", base.rate, int),
            probe=_positive(env, "LIVE_PROBE", base.probe, float),
            rest=_positive(env, "LIVE_REST", base.rest, float),
            held=_positive(env, "LIVE_SNAPSHOT", base.held, float),
        ),
        "switch_rate": _positive(env, "SWITCH_RATE", 1000, int),
        "switch_cost": _positive(env, "SWITCH_COST", 200, int),
        "scale": _positive(env, "SF", 1.0, float),
    }
    if "clickbench" in datasets:
        found["clickbench"] = _directory(env, "CLICKBENCH", "**/queries.sql")
        if env.get("HITS"):
            found["hits"] = Path(env["HITS"]).resolve()
            if not found["hits"].is_file():
                raise ValueError(f"HITS: not a file: {env['HITS']!r}")
    if "tpch" in datasets:
        found["tpch"] = _directory(env, "TPCH", "queries.json")
    if JSONBENCH in datasets and env.get("JSONBENCH"):
        found["jsonbench"] = Path(env["JSONBENCH"]).resolve()
        if not files(found["jsonbench"]):
            raise ValueError(f"JSONBENCH: no files of JSON: {env['JSONBENCH']!r}")
    return found


def from_environment(env: dict[str, str] | None = None) -> Config:
    """Read ROWS, SYSTEMS, DATASETS, RUNS, LOAD_RUNS, WORKERS, TIMEOUT, CELL,
    PGBENCH, TPCB, RESULTS and the settings of data sets on demand; raise
    ValueError on a value that makes no sense.

    The default timeout grows with the rows, so that only a system much slower
    than the others meets it.
    """
    env = dict(os.environ) if env is None else env
    datasets = _names(env.get("DATASETS", "")) or (SUMMARY,)
    unknown = sorted(set(datasets) - {SUMMARY, *FULL, *ON_DEMAND})
    if unknown:
        raise ValueError(f"DATASETS: unknown data set {unknown[0]!r}")
    if SUMMARY in datasets and len(datasets) > 1:
        raise ValueError("DATASETS: the summary runs alone")
    base = _SUMMARY if SUMMARY in datasets else Config()
    systems = _names(env.get("SYSTEMS", "")) or base.systems
    if CLICKHOUSE in systems and datasets != (JSONBENCH,):
        raise ValueError(f"SYSTEMS: {CLICKHOUSE} is of DATASETS={JSONBENCH} alone")
    usual = JSON_ROWS if datasets == (JSONBENCH,) else base.rows
    rows = _positive(env, "ROWS", usual, int)
    timeout = base.timeout * max(1.0, rows / Config().rows)
    return Config(
        rows=rows,
        systems=systems,
        datasets=datasets,
        runs=_positive(env, "RUNS", base.runs, int),
        load_runs=_positive(env, "LOAD_RUNS", base.load_runs, int),
        workers=_positive(env, "WORKERS", base.workers, int),
        timeout=_positive(env, "TIMEOUT", timeout, float),
        cell=_positive(env, "CELL", base.cell, float),
        pgbench=_positive(env, "PGBENCH", base.pgbench, int),
        tpcb=_positive(env, "TPCB", base.tpcb, int),
        results=Path(env.get("RESULTS", "") or base.results),
        **_on_demand(env, datasets),
    )
