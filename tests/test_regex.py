"""Regular expressions of vectors say what the server's say.

Random patterns and texts over few characters, so that most patterns match most
texts in more than one way; each is asked of a table of ours and of heap's. SECONDS=n runs
the generator that long instead of a fixed number of patterns; SEED repeats a run.
"""

from __future__ import annotations

import os
import time

import psycopg

PATTERNS = 300
TEXTS = 1500
LETTERS = [
    "a",
    "b",
    "c",
    "A",
    "/",
    ".",
    "é",
    "я",
    "€",
    "😀",
    "1",
    " ",
    "\n",
    "-",
    "_",
    "]",
    "}",
]
SINGLES = [
    *"aaabbbc",
    ".",
    ".",
    "[ab]",
    "[^a]",
    "[a-c]",
    "[^/]",
    "é",
    "[я-ё]",
    "[é€😀]",
    "[^é]",
    "[]a]",
    "[^]b]",
    "[a-]",
    "[-b]",
    "\\.",
    "\\/",
    "/",
    "€",
    "😀",
    "\\n",
    "1",
    "[\\]a]",
    "\\-",
    "]",
    "}",
    "_",
    " ",
]
CLASSES = [
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "[[:alpha:]]",
    "[^[:digit:]]",
    "[\\w.]",
    "[a[:space:]]",
    "[[:upper:]é]",
]
# The server's alone: they must be told apart.
OTHERS = [
    "\\y",
    "\\m",
    "(a)\\1",
    "(?=a)",
    "(?!b)",
    "\\A",
    "\\Z",
    "[[.a.]]",
    "[[=a=]]",
    "\\u00e9",
    "(?i)a",
    "a**",
    "{",
    "a{2,1}",
    "[z-a]",
    "(",
    "[a",
    "\\",
    "x*+",
    "***=a",
    "^*",
    "(?#b)",
]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}", "{0}", "{1}"]
REPLACEMENTS = ["\\1", "<\\1|\\2>", "[\\&]", "", "x", "\\\\\\3\\q\\", "\\9é"]


class Patterns:
    def __init__(self, rng):
        self.rng = rng

    def text(self) -> str:
        return "".join(
            self.rng.choice(LETTERS if self.rng.random() < 0.5 else "abc/")
            for _ in range(self.rng.randrange(self.rng.choice([12, 12, 12, 150])))
        )

    def quantifier(self, lazy: float) -> str:
        if self.rng.random() < 0.6:
            return ""
        return self.rng.choice(QUANTIFIERS) + ("?" if self.rng.random() < lazy else "")

    def atom(self, depth: int, lazy: float) -> str:
        if depth > 0 and self.rng.random() < 0.35:
            return (
                self.rng.choice(["(", "(", "(?:"])
                + self.alternatives(depth - 1, lazy)
                + ")"
            )
        if self.rng.random() < 0.01:
            return self.rng.choice(OTHERS)
        return self.rng.choice(CLASSES if self.rng.random() < 0.1 else SINGLES)

    def branch(self, depth: int, lazy: float) -> str:
        pieces = [
            self.atom(depth, lazy) + self.quantifier(lazy)
            for _ in range(self.rng.randrange(5))
        ]
        for anchor in "^$":
            if self.rng.random() < 0.12:
                pieces.insert(
                    self.rng.choice(
                        [0, len(pieces), self.rng.randrange(len(pieces) + 1)]
                    ),
                    anchor,
                )
        return "".join(pieces)

    def alternatives(self, depth: int, lazy: float) -> str:
        n = self.rng.choice([1, 1, 1, 2, 3])
        return "|".join(self.branch(depth, lazy) for _ in range(n))

    def pattern(self) -> str:
        """Groups at the top are what captures need, so one pattern in two has them."""
        lazy = 0.2 if self.rng.random() < 0.2 else 0
        if self.rng.random() < 0.5:
            return self.alternatives(2, lazy)
        parts = [
            self.branch(1, lazy) if i % 2 else "(" + self.alternatives(0, lazy) + ")"
            for i in range(self.rng.randrange(1, 6))
        ]
        return (
            self.rng.choice(["", "^", "^a?"])
            + "".join(parts)
            + self.rng.choice(["", "$", "c*$"])
        )


def outcome(conn, sql: str, args: list):
    try:
        return conn.execute(sql, args).fetchall()
    except psycopg.errors.Error as error:
        return error.sqlstate


def load(conn, am: str, texts: list[str]) -> None:
    conn.execute(
        f'CREATE TABLE ours (k int, t text, c text COLLATE "C", few text) USING {am}'
    )
    conn.execute(
        'CREATE TABLE heap (k int, t text, c text COLLATE "C", few text) USING heap'
    )
    with conn.cursor() as cursor:
        for table in ("ours", "heap"):
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for k, text in enumerate(texts):
                    copy.write_row((k, text if k % 9 else None, text, texts[k % 40]))
    conn.execute("VACUUM ANALYZE ours")


def queries(rng) -> list[str]:
    """The pattern is %(p)s, the replacement %(r)s."""
    column = rng.choice(["t", "c", "c", "few"])
    operator = rng.choice(["~", "~", "!~", "~*", "!~*"])
    return [
        f"SELECT k FROM TBL WHERE {column} {operator} %(p)s ORDER BY k",
        f"SELECT k, {column}, regexp_replace({column}, %(p)s, %(r)s) FROM TBL ORDER BY k",
        f"SELECT regexp_replace({column}, %(p)s, %(r)s, 'g') x, count(*), sum(({column} {operator} %(p)s)::int) FROM TBL GROUP BY 1 ORDER BY 1",
    ]


def differences(conn, rng, n: int, seconds: float) -> list:
    patterns = Patterns(rng)
    found = []
    start = time.monotonic()
    done = 0
    while (time.monotonic() - start < seconds if seconds else done < n) and len(
        found
    ) < 5:
        done += 1
        args = {"p": patterns.pattern(), "r": rng.choice(REPLACEMENTS)}
        for query in queries(rng):
            ours = outcome(conn, query.replace("TBL", "ours"), args)
            heap = outcome(conn, query.replace("TBL", "heap"), args)
            if ours != heap:
                diff = (
                    [x for x in zip(ours, heap, strict=False) if x[0] != x[1]][:2]
                    if isinstance(ours, list) and isinstance(heap, list)
                    else (ours, heap)
                )
                found.append((query, args, diff))
    return found


def test_patterns(conn, am, rng):
    texts = [Patterns(rng).text() for _ in range(TEXTS)]
    load(conn, am, texts)
    assert differences(conn, rng, PATTERNS, float(os.environ.get("SECONDS", 0))) == []
