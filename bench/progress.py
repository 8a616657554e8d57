"""What a run says while it lasts: one line per step, or all (VERBOSE=1)."""

from __future__ import annotations

import os
import sys
import time

_start = float(os.environ.get("STRATA_STARTED", "") or time.time())
_verbose = bool(os.environ.get("VERBOSE"))
_last = ""


def say(text: str) -> None:
    """Print at once."""
    print(text, file=sys.stdout, flush=True)


def elapsed() -> str:
    """Minutes and seconds since the start, set-up included."""
    seconds = int(time.time() - _start)
    return f"{seconds // 60}:{seconds % 60:02d}"


def progress(*words: object) -> None:
    """What is going on; words that are empty are left out."""
    global _last
    _last = " ".join(str(word) for word in words if str(word))
    if _verbose:
        say(f"[{elapsed()}] {_last}")


def step_done(name: str, left: str) -> None:
    """A step's line: the time, what is left, and what the step said last."""
    global _last
    say(f"[{elapsed()}{left and ', ' + left}] {_last or name}")
    _last = ""
