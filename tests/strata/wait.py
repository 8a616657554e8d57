"""Waiting for a condition instead of sleeping for a time."""

from __future__ import annotations

import time
from collections.abc import Callable

# Limits are those of a machine of one's own: a shared one is slower.
PATIENCE = 4


def wait_until(condition: Callable[[], object], what: str, timeout: float = 30.0):
    """Call `condition` until it returns something true; return that.

    Raises AssertionError naming `what` after PATIENCE times `timeout` seconds.
    """
    deadline = time.monotonic() + PATIENCE * timeout
    pause = 0.002
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE * timeout:g} s in vain for {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
