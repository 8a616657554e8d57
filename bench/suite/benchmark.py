"""The benchmark as a pytest session: one test per step, in order."""

from __future__ import annotations

import time

import pytest

from bench.config import from_environment
from bench.lab import Lab
from bench.progress import step_done
from bench.steps import Step, plan
from bench.timing import Clock


@pytest.fixture(scope="session")
def clock(request) -> Clock:
    """The time of the steps that were chosen."""
    chosen = [item.callspec.params["step"].name for item in request.session.items]
    return Clock(chosen, from_environment())


@pytest.mark.parametrize(
    "step", list(plan(from_environment())), ids=lambda step: step.name
)
def test_step(lab: Lab, clock: Clock, step: Step) -> None:
    start = time.monotonic()
    try:
        step.run(lab)
    finally:
        step_done(step.name, clock.end(step.name, time.monotonic() - start))
        lab.results.meta["minutes"] = {
            name: round(seconds / 60, 1) for name, seconds in clock.by_dataset().items()
        }
