"""What a query's text says of its result: order, limit, and how to check them.

The queries of clickbench and tpch come from files that are not ours, so by what their
results must be compared is read from the text: the columns of ORDER BY, whether rows
are cut off by LIMIT, and by OFFSET.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bench.dataset import Query

_DIRECTION = re.compile(r"\s+(ASC|DESC)?\s*(NULLS\s+(FIRST|LAST))?\s*$", re.I)
_ALIAS = re.compile(r"\s+AS\s+\"?(\w+)\"?\s*$", re.I)


def outside(sql: str) -> str:
    """The text with blanks for what is in parentheses or quotes, so that every
    other character keeps its place."""
    found = []
    depth, quote = 0, ""
    for char in sql:
        inside = depth > 0 or quote
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote, inside = char, True
        elif char == "(":
            depth += 1
            inside = True
        elif char == ")":
            depth -= 1
            inside = True
        found.append(" " if inside and not char.isspace() else char)
    return "".join(found)


def split(sql: str, separator: str = ",") -> list[str]:
    """Parts of a text between separators outside of parentheses and quotes."""
    places = [m.start() for m in re.finditer(re.escape(separator), outside(sql))]
    ends = [*places, len(sql)]
    starts = [0, *(place + 1 for place in places)]
    return [sql[a:b].strip() for a, b in zip(starts, ends, strict=True)]


def statements(text: str) -> list[str]:
    """The statements of a file, without their semicolons."""
    return [part for part in split(text, ";") if part]


def columns(create: str) -> tuple[tuple[str, str], ...]:
    """(name, type) of each column of a CREATE TABLE statement; its table
    constraints are left out."""
    body = create[create.index("(") + 1 : create.rindex(")")]
    found = []
    for part in split(body):
        name, kind = part.split(None, 1)
        if name.upper() not in ("PRIMARY", "UNIQUE", "CONSTRAINT", "FOREIGN", "CHECK"):
            found.append((name, " ".join(kind.split())))
    return tuple(found)


@dataclass(frozen=True)
class Shape:
    """Parts of a query's text.

    columns   the select list, each without its alias, and the aliases
    keys      expressions of ORDER BY
    from_at   where the first FROM begins
    limit_at  where LIMIT or OFFSET begins; the text's end without them
    """

    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    from_at: int
    limit_at: int
    limited: bool
    offset: bool


def _same(text: str) -> str:
    return " ".join(text.lower().split())


def shape(sql: str) -> Shape:
    """Take a SELECT apart."""
    plain = outside(sql)
    select = re.search(r"\bSELECT\b", plain, re.I)
    start = re.search(r"\bFROM\b", plain[select.end() :], re.I)
    from_at = select.end() + start.start() if start else len(sql)
    ends = [m.start() for m in re.finditer(r"\b(LIMIT|OFFSET)\s+\d", plain, re.I)]
    limit_at = min(ends, default=len(sql.rstrip().rstrip(";")))
    order = list(re.finditer(r"\bORDER\s+BY\b", plain, re.I))
    keys = split(sql[order[-1].end() : limit_at]) if order else []
    listed = []
    for part in split(sql[select.end() : from_at]):
        alias = _ALIAS.search(part)
        listed.append((_ALIAS.sub("", part), alias.group(1) if alias else ""))
    return Shape(
        columns=tuple(listed),
        keys=tuple(_DIRECTION.sub("", key + " ") for key in keys),
        from_at=from_at,
        limit_at=limit_at,
        limited=re.search(r"\bLIMIT\s+\d", plain, re.I) is not None,
        offset=re.search(r"\bOFFSET\s+\d", plain, re.I) is not None,
    )


def _position(key: str, found: Shape, table: tuple[str, ...]) -> int | None:
    """Which result column a key of ORDER BY is; None: it is none of them."""
    if key.isdigit():
        return int(key) - 1
    names: list[tuple[str, ...]] = []
    for expression, alias in found.columns:
        if expression == "*":
            names += [(_same(name),) for name in table]
        else:
            short = expression.rsplit(".", 1)[-1]
            names.append((_same(alias), _same(expression), _same(short)))
    for number, known in enumerate(names):
        if _same(key) in known:
            return number
    return None


@dataclass(frozen=True)
class Checked:
    """A query with what else its result must be checked by.

    query  as it is timed
    keyed  the same with the keys of ORDER BY that it does not show as columns,
           where LIMIT makes them decide which rows there are
    whole  the same without LIMIT, where nothing says which rows are shown
    """

    query: Query
    keyed: Query | None = None
    whole: str = ""


def _with_keys(sql: str, keys: list[str]) -> str:
    at = shape(sql).from_at
    more = "".join(f", {key} AS order_key_{n}" for n, key in enumerate(keys))
    return f"{sql[:at].rstrip()}{more} {sql[at:]}"


def checked(
    name: str, sql: str, duckdb: str | None = None, table: tuple[str, ...] = ()
) -> Checked:
    """The query of a text; `table` are the columns that `*` stands for."""
    found = shape(sql)
    places = [_position(key, found, table) for key in found.keys]
    missing = [k for k, p in zip(found.keys, places, strict=True) if p is None]
    known = tuple(places[: places.index(None)] if None in places else places)
    query = Query(name, sql, duckdb, order_by=known)
    if not found.limited:
        return Checked(query)
    query = replace(query, limited=True, offset=found.offset)
    if not found.keys:
        return Checked(query, whole=sql[: found.limit_at])
    if not missing:
        return Checked(query)
    width = sum(len(table) if e == "*" else 1 for e, _ in found.columns)
    all_places = []
    for place in places:
        all_places.append(width if place is None else place)
        width += place is None
    keyed = replace(
        query,
        sql=_with_keys(sql, missing),
        duckdb=_with_keys(duckdb, missing) if duckdb else None,
        order_by=tuple(all_places),
    )
    return Checked(replace(query, order_by=()), keyed)
