"""Progress lines: what is going on, with the seconds since the start."""

from __future__ import annotations

import sys
import time

_start = time.monotonic()


def progress(*words: object) -> None:
    """Print one line at once; words that are empty are left out."""
    elapsed = time.monotonic() - _start
    text = " ".join(str(word) for word in words if str(word))
    print(f"[{elapsed:6.1f} s] {text}", file=sys.stdout, flush=True)
