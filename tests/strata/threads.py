"""Calls and jobs of sessions in threads beside a test."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg

Job = Callable[[psycopg.Connection], object]
Result = TypeVar("Result")


def begun(call: Callable[[], Result]) -> Callable[[], Result]:
    """Begins a call in a thread; what is returned waits for its result, or error."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(call)
    pool.shutdown(wait=False)
    return future.result


def race_time(seconds: float) -> float:
    """How long a race of sessions goes on: RACES of that time, or all of it."""
    return seconds * float(os.environ.get("RACES", 1))


@contextlib.contextmanager
def repeated(database, jobs: Sequence[Job]) -> Iterator[threading.Event]:
    """Each job(connection) over and over in a session of its own, meanwhile.

    Yields the event that ends them all, which the first error sets, too.
    Their errors fail the test.
    """
    stop = threading.Event()
    errors: list[BaseException] = []

    def run(job: Job) -> None:
        try:
            with database.connect() as conn:
                while not stop.is_set():
                    job(conn)
        except BaseException as error:
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield stop
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []
