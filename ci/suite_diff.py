#!/usr/bin/env python3
"""What kind of difference there is between two outputs of a test (psql or the
isolation tester):

    suite_diff.py HEAP OURS
        prints the kinds on the first line, then a diff of the rest
    suite_diff.py LIST SUITE MAJOR HEAP_DIR OUR_DIR DIFF_DIR EXPECTED_DIR
        compares the outputs of two runs with what LIST says of that suite on
        that major; leaves diffs, and those of the rest, in DIFF_DIR; what the
        test itself expects is right even if heap's run gave something else
    suite_diff.py LIST SUITE MAJOR move INPUT_DIR
        changes the TIDs in the input of tests that LIST gives the kind ctids

LIST has lines "suite/test kinds [majors]: reason" (kinds: with commas; a test
may have several lines) and "include other-list".  The kinds:

    plans   a plan, or a function that prints one, has other lines
    order   a result has the same rows in another order, and its statement no
            ORDER BY; or the same messages come in another order
    ties    the same, and its statement has an ORDER BY: somebody has to look
            whether the rows that moved are equal in it
    ctids   the test is run with TIDs one block higher (where our rows begin), and
            heap's output is read so
    other   anything else: printed as a diff, for which the above is made equal
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RULE = re.compile(r"^-+(\+-+)*$")
ROWS = re.compile(r"^\(\d+ rows?\)$")
PLAN = re.compile(r"^\s*(QUERY PLAN|\w*explain\w*)\s*$")
MESSAGE = re.compile(r"^(\w+: +)?(NOTICE|INFO|WARNING|LOG):  ")
ORDER_BY = re.compile(r"\border\s+by\b", re.IGNORECASE)
KINDS = {"plans", "order", "ties", "ctids", "other"}
QUOTED_TID = re.compile(r"(?<=')\((\d{1,4})(, ?\d{1,4})\)(?=')")
PRINTED_TID = re.compile(r"(?<![\w'])\((\d{1,4})(, ?\d{1,4})\)(?![\w'])")
LISTED = re.compile(
    r"(?P<suite>\w+)/(?P<test>[\w.-]+) (?P<kinds>[a-z,]+)(?P<majors>( \d+)*): (?P<reason>\S.*)"
)


@dataclass
class Part:
    """Lines of an output.  key: equal for parts that stand for one another."""

    kind: str  # text, plan, result, messages
    lines: list[str]
    ordered: bool = False

    def key(self) -> str:
        if self.kind == "plan":
            return "<plan>"
        if self.kind in ("result", "messages"):
            return "\n".join(sorted(self.lines))
        return self.lines[0]

    def normal(self) -> list[str]:
        if self.kind == "plan":
            return ["<plan>"]
        return (
            self.lines[:2] + sorted(self.lines[2:])
            if self.kind == "result"
            else sorted(self.lines)
        )


def one_block_higher(tid: re.Match[str]) -> str:
    return f"({int(tid[1]) + 1}{tid[2]})"


def move_input(text: str) -> str:
    return QUOTED_TID.sub(one_block_higher, text)


def move_output(lines: list[str]) -> list[str]:
    """The output with TIDs moved, and without the padding that depends on them."""
    moved: list[str] = []
    for part in parts(lines):
        for line in part.lines:
            tids = (
                PRINTED_TID
                if part.kind == "result" or "ERROR: " in line
                else QUOTED_TID
            )
            moved.append(tids.sub(one_block_higher, line))
    return moved


def unpadded(line: str) -> str:
    if RULE.match(line):
        return re.sub("-+", "-", line)
    return re.sub(r" *\| *", "|", line.strip())


def statement_before(lines: list[str], header: int) -> str:
    """The statement whose result begins at that line."""
    first = header - 1
    while first > 0 and not (
        ROWS.match(lines[first - 1])
        or RULE.match(lines[first - 1])
        or lines[first - 1].rstrip().endswith(";")
    ):
        first -= 1
    return "\n".join(lines[max(first, 0) : header])


def is_header(lines: list[str], at: int) -> bool:
    """Does a result begin there: names of columns above a rule of their width?"""
    return (
        at + 1 < len(lines)
        and RULE.match(lines[at + 1]) is not None
        and len(lines[at]) == len(lines[at + 1])
        and (lines[at + 1] != "--" or lines[at].isidentifier())
    )


def parts(lines: list[str]) -> Iterator[Part]:
    at = 0
    while at < len(lines):
        if is_header(lines, at):
            end = at + 2
            while end < len(lines) and lines[end] and not ROWS.match(lines[end]):
                end += 1
            if end < len(lines) and lines[end]:
                kind = "plan" if PLAN.match(lines[at]) else "result"
                ordered = ORDER_BY.search(statement_before(lines, at)) is not None
                yield Part(kind, lines[at : end + 1], ordered)
                at = end + 1
                continue
        if MESSAGE.match(lines[at]):
            end = at
            while end < len(lines) and MESSAGE.match(lines[end]):
                end += 1
            yield Part("messages", lines[at:end])
            at = end
            continue
        yield Part("text", [lines[at]])
        at += 1


def compare_moved(heap: list[str], ours: list[str]) -> tuple[set[str], list[str]]:
    """The same for a test that was run with TIDs moved."""
    if heap == ours:
        return set(), []
    kinds, rest = compare(move_output(heap), ours, moved=True)
    return kinds | {"ctids"}, rest


def compare(
    heap: list[str], ours: list[str], moved: bool = False
) -> tuple[set[str], list[str]]:
    theirs, mine = list(parts(heap)), list(parts(ours))
    if moved:
        for part in theirs + mine:
            if part.kind in ("result", "plan"):
                rows = 2 if part.kind == "plan" else len(part.lines)
                part.lines[:rows] = [unpadded(line) for line in part.lines[:rows]]
    kinds: set[str] = set()
    matcher = difflib.SequenceMatcher(
        None, [p.key() for p in theirs], [p.key() for p in mine], autojunk=False
    )
    for tag, i1, i2, j1, _j2 in matcher.get_opcodes():
        if tag != "equal":
            kinds.add("other")
            continue
        for part, other in zip(theirs[i1:i2], mine[j1:], strict=False):
            if part.lines != other.lines:
                if part.kind == "plan":
                    kinds.add("plans")
                else:
                    kinds.add("ties" if part.ordered else "order")
    rest = difflib.unified_diff(
        [line for part in theirs for line in part.normal()],
        [line for part in mine for line in part.normal()],
        "heap",
        "ours",
        lineterm="",
    )
    return kinds, list(rest) if "other" in kinds else []


@dataclass
class Listed:
    """A file's line or lines in the list: which kinds of difference it may have."""

    kinds: set[str]
    lines: list[str]


def read_list(path: Path, suite: str, major: str) -> dict[str, Listed]:
    """What path says about that suite on that major, by test."""
    listed: dict[str, Listed] = {}
    for line in path.read_text().splitlines():
        if line.startswith("include "):
            for test, more in read_list(
                path.parent / line.split()[1], suite, major
            ).items():
                entry = listed.setdefault(test, Listed(set(), []))
                entry.kinds |= more.kinds
                entry.lines += more.lines
            continue
        if not line.strip() or line.startswith("#"):
            continue
        matched = LISTED.fullmatch(line)
        if not matched or not set(matched["kinds"].split(",")) <= KINDS:
            sys.exit(f"{path}: not understood: {line}")
        majors = matched["majors"].split()
        if matched["suite"] == suite and (not majors or major in majors):
            entry = listed.setdefault(matched["test"], Listed(set(), []))
            entry.kinds |= set(matched["kinds"].split(","))
            entry.lines.append(line)
    return listed


def check(
    listed: dict[str, Listed],
    suite: str,
    heap_dir: Path,
    our_dir: Path,
    diffs: Path,
    expected: Path,
) -> bool:
    """Compares the files of two runs, says what is not as listed, leaves diffs."""
    good = True
    differing = 0
    names = sorted(path.stem for path in heap_dir.glob("*.out"))
    for name in names:
        ours = our_dir / f"{name}.out"
        heap = read(heap_dir / f"{name}.out")
        allowed = listed[name].kinds if name in listed else set()
        how = compare_moved if "ctids" in allowed else compare
        kinds, rest = (
            how(heap, read(ours)) if ours.exists() else ({"other"}, ["no output"])
        )
        if kinds and any(
            path.read_bytes() == ours.read_bytes()
            for path in expected.glob(f"{name}*.out")
            if ours.exists() and re.fullmatch(r"(_\d)?", path.stem[len(name) :])
        ):
            kinds, rest = set(), []
        differing += bool(kinds)
        if kinds - allowed:
            print(f"{suite}/{name}: not listed: {', '.join(sorted(kinds - allowed))}")
            good = False
        if allowed - kinds:
            print(
                f"{suite}/{name}: listed, but not seen: {', '.join(sorted(allowed - kinds))}"
            )
        if kinds:
            whole = difflib.unified_diff(
                heap, read(ours) if ours.exists() else [], lineterm=""
            )
            (diffs / f"{name}.diff").write_text("\n".join(whole) + "\n")
        if rest:
            (diffs / f"{name}.other").write_text("\n".join(rest) + "\n")
    for name in sorted(set(listed) - set(names)):
        print(f"{suite}/{name}: listed, but there is no such test")
    print(f"{differing} of {len(names)} differ from heap's")
    return good


def read(path: Path) -> list[str]:
    return path.read_text(errors="replace").split("\n")


def main() -> int:
    if len(sys.argv) == 3:
        kinds, rest = compare(read(Path(sys.argv[1])), read(Path(sys.argv[2])))
        print(" ".join(sorted(kinds)))
        print("\n".join(rest))
        return 0
    if len(sys.argv) == 6 and sys.argv[4] == "move":
        listing, suite, major, _, folder = sys.argv[1:]
        for test, entry in read_list(Path(listing), suite, major).items():
            if "ctids" in entry.kinds:
                for path in Path(folder).glob(f"*/{test}.s[qp]*"):
                    path.write_text(move_input(path.read_text()))
        return 0
    if len(sys.argv) != 8:
        sys.exit(__doc__)
    listing, suite, major, *folders = sys.argv[1:]
    listed = read_list(Path(listing), suite, major)
    return 0 if check(listed, suite, *map(Path, folders)) else 1


if __name__ == "__main__":
    sys.exit(main())
