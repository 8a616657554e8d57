"""How long a run still takes, and what each data set took.

The expected seconds of a step are rough: only their proportions matter, as the pace
of the run so far corrects them.
"""

from __future__ import annotations

import re

from bench.config import Config
from bench.sections import FIRST, LIVE, SWITCH

SYSTEMS = 4  # of this project's and heap, as a rule
MILLION = 1_000_000


def expected(step: str, config: Config) -> float:
    """Seconds that a step is thought to take."""
    if step.startswith(FIRST):
        config = config.first_look
    rows = config.rows / MILLION
    live = SYSTEMS * (config.live.minutes * 60 + config.live.rest + 60 * rows)
    turns = SYSTEMS * config.tpcb
    for pattern, seconds in (
        (LIVE, live),
        (SWITCH, 120 + 200 * rows),
        (r"pgbench-(\d+)", 3 * config.load_runs * turns + 20),
        (r".*-points(-starved)?", 4 * turns + 10),
        (r".*-(load|churn-load|churn-compact)", 60 * rows),
        (r".*-(key-indexes|foreign-indexes|delta|documents)", 15 * rows),
        (r".*-writes", 60 * rows + config.pgbench * config.load_runs * turns / 9000),
        (r".*-instructions", 60),
        (r"sorted-writer", 6 * config.tpcb + 20 * rows),
        (r"sorted-.*pgbench", 60),
        (r"sorted-.*", 20 * rows),
        (r"zson-.*", 30),
        (r"(clickbench|jsonbench)-cold.*", 8),
    ):
        if re.fullmatch(pattern, step):
            return seconds
    return 0.5 + 0.3 * config.runs * rows


class Clock:
    """The steps of a run, and the seconds of those that are done."""

    def __init__(self, steps: list[str], config: Config) -> None:
        self.left = {name: expected(name, config) for name in steps}
        self.planned = 0.0
        self.taken: dict[str, float] = {}

    def end(self, step: str, seconds: float) -> str:
        """A step is done; how long the run still takes, empty at its end."""
        self.planned += self.left.pop(step, 0.0)
        self.taken[step] = seconds
        pace = sum(self.taken.values()) / self.planned if self.planned else 1.0
        left = pace * sum(self.left.values())
        return f"{duration(left)} left" if self.left else ""

    def by_dataset(self) -> dict[str, float]:
        """Seconds by the first word of the steps' names."""
        found: dict[str, float] = {}
        for step, seconds in self.taken.items():
            name = step.split("-")[0]
            found[name] = found.get(name, 0.0) + seconds
        return found


def duration(seconds: float) -> str:
    """Seconds or minutes, for people."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min"
