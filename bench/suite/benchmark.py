"""The benchmark as a pytest session: one test per step, in order."""

from __future__ import annotations

import pytest

from bench.config import from_environment
from bench.lab import Lab
from bench.steps import Step, plan


@pytest.mark.parametrize(
    "step", list(plan(from_environment())), ids=lambda step: step.name
)
def test_step(lab: Lab, step: Step) -> None:
    step.run(lab)
