"""Waiting for a condition instead of sleeping for a time."""

from __future__ import annotations

import time
from collections.abc import Callable

# Limits are those of a machine of one's own: a shared one is slower.
PATIENCE = 4


def wait_until(
    condition: Callable[[], object],
    what: str,
    timeout: float = 30.0,
    patience: float = PATIENCE,
):
    """Call `condition` until it returns something true; return that.

    Raises AssertionError naming `what` after `patience` times `timeout` seconds; a
    time that is promised has a patience of 1.
    """
    deadline = time.monotonic() + patience * timeout
    pause = 0.002
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience * timeout:g} s in vain for {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
