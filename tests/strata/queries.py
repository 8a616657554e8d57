"""Random queries over one table, to be run on two copies of it.

A Generator makes queries with the word TBL where the table's name belongs, and its
alias tbl.
Expressions are typed, so that nearly all queries are valid; some raise errors
at run time (an overflow, a zero divisor), which is wanted.  The table has one
column or two of every type: one with few distinct values, one with many.
"""

from __future__ import annotations

import os
import random


def share(queries: int) -> int:
    """How many of a test's random queries are asked: RANDOM_QUERIES of them, or all."""
    return int(queries * float(os.environ.get("RANDOM_QUERIES", 1)))


COLUMNS = """
    k int NOT NULL, i2 int2, i4 int4, i8 int8, j4 int4 NOT NULL, f4 float4, f8 float8,
    n numeric, n2 numeric(12,2), n4 numeric(15,4) NOT NULL, t text, u text, v varchar(20),
    c char(6), b bool, d date, ts timestamp, tz timestamptz, tm time, j jsonb, a text[],
    x uuid, y bytea, o oid, iv interval
"""

# Rows for generate_series g; U(n) is an integer below n that depends on g.
ROWS = """
SELECT g,
  CASE WHEN {u7} = 0 THEN NULL ELSE {u100} - 50 END,
  CASE WHEN {u11} = 0 THEN NULL WHEN {u500} = 0 THEN 2147483647 ELSE {u2000} - 1000 END,
  CASE WHEN {u13} = 0 THEN NULL WHEN {u900} = 0 THEN 9223372036854775807
       ELSE {u5000}::int8 * 1000003 END,
  {u50},
  CASE WHEN {u17} = 0 THEN NULL ELSE {u300} / 8.0 END,
  CASE WHEN {u19} = 0 THEN NULL WHEN {u700} = 0 THEN 'NaN' WHEN {u700} = 1 THEN '-Infinity'
       ELSE {u10000} / 7.0 - 300 END,
  CASE WHEN {u9} = 0 THEN NULL WHEN {u4000} = 0 THEN 'NaN' WHEN {u3} = 0 THEN {u60}
       ELSE {u1000} / 10.0 END,
  CASE WHEN {u8} = 0 THEN NULL ELSE {u100000} / 100.0 - 200 END,
  {u1000000} / 10000.0,
  CASE WHEN {u12} = 0 THEN NULL ELSE (ARRAY['red','Green','blue','','white%','a_b'])[{u6} + 1] END,
  CASE WHEN {u14} = 0 THEN NULL ELSE md5({u3000}::text) END,
  'v' || {u40}, {u30}::text,
  CASE WHEN {u5} = 0 THEN NULL ELSE {u2} = 0 END,
  CASE WHEN {u10} = 0 THEN NULL WHEN {u800} = 0 THEN 'infinity'
       ELSE date '2019-12-20' + {u900} END,
  CASE WHEN {u15} = 0 THEN NULL ELSE timestamp '2020-02-25' + {u100000} * interval '7 min' END,
  CASE WHEN {u16} = 0 THEN NULL ELSE timestamptz '2020-03-25 00:00+00' + {u90000} * interval '5 min' END,
  time '00:00' + {u1000} * interval '83 s',
  CASE WHEN {u18} = 0 THEN NULL ELSE jsonb_build_object('a', {u20}, 'b', 'x' || {u7}, 'c', {u2} = 0) END,
  CASE WHEN {u21} = 0 THEN NULL ELSE ARRAY['t' || {u10}, 't' || {u4}] END,
  md5({u64}::text)::uuid, decode(md5({u90}::text), 'hex'), {u70}, {u48} * interval '1 hour'
FROM generate_series({first}, {last}) g
"""


def rows_sql(first: int, last: int, salt: int) -> str:
    """INSERT's source of the rows first .. last."""

    class Uniform(dict):
        def __missing__(self, key: str) -> str:
            n = int(key[1:])
            return f"(abs(hashint8(g::int8 * 1000 + {n + salt}) % {n}))"

    return ROWS.format_map(Uniform(first=first, last=last))


INTS = ["int2", "int4", "int8"]
NUMBERS = [*INTS, "numeric", "float8", "float4"]
TIMES = ["date", "timestamp", "timestamptz"]
ORDERED = [*NUMBERS, *TIMES, "text", "bool"]

BY_TYPE = {
    "int2": ["i2"],
    "int4": ["i4", "j4", "k"],
    "int8": ["i8"],
    "float4": ["f4"],
    "float8": ["f8"],
    "numeric": ["n", "n2", "n4"],
    "text": ["t", "u", "v::text", "c::text"],
    "bool": ["b"],
    "date": ["d"],
    "timestamp": ["ts"],
    "timestamptz": ["tz"],
    "time": ["tm"],
    "jsonb": ["j"],
    "text[]": ["a"],
}

CONSTANTS = {
    "int2": ["0::int2", "1::int2", "(-7)::int2", "32767::int2"],
    "int4": ["0", "1", "2", "-3", "42", "1000", "2147483647"],
    "int8": ["0::int8", "7::int8", "1000003::int8", "9223372036854775807"],
    "float4": ["0::float4", "1.5::float4", "'NaN'::float4"],
    "float8": ["0::float8", "2.5::float8", "-1e10::float8", "'Infinity'::float8"],
    "numeric": ["0.0", "1.50", "-2", "100.0001", "0.5", "1e20", "'NaN'::numeric"],
    "text": ["''", "'red'", "'blue'", "'a_b'", "'v7'", "'3'"],
    "bool": ["true", "false", "NULL::bool"],
    "date": ["date '2020-02-29'", "date '2021-01-01'", "date '-infinity'"],
    "timestamp": ["timestamp '2020-06-01 12:00'", "timestamp '2020-10-25 01:30'"],
    "timestamptz": [
        "timestamptz '2020-10-25 00:30+00'",
        "timestamptz '2020-12-31 23:00+00'",
    ],
    "time": ["time '12:00'"],
    "jsonb": ["'{\"a\": 5}'::jsonb", "'{}'::jsonb"],
    "text[]": ["ARRAY['t1']", "ARRAY['t2','t3']"],
}

UNITS = [
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "quarter",
    "week",
    "decade",
    "century",
]
FIELDS = [*UNITS, "dow", "isodow", "doy", "isoyear", "epoch", "second"]


class Generator:
    """What the last query is made of: outputs, its expressions besides the
    conditions; conditions, those that all must hold; limited, whether it has
    ORDER BY and LIMIT."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.outputs: list[str] = []
        self.conditions: list[str] = []
        self.limited = False
        self._both: dict[str, list[str]] = {}

    def pick(self, items):
        return self.rng.choice(items)

    # ---- expressions ----

    def leaf(self, typ: str) -> str:
        if self.rng.random() < 0.75:
            return self.pick(BY_TYPE[typ])
        if self.rng.random() < 0.05:
            return f"NULL::{typ}"
        return self.pick(CONSTANTS[typ])

    def expr(self, typ: str, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(typ)
        if self.rng.random() < 0.2:
            return self.branch(typ, depth)
        return getattr(self, "make_" + typ.replace("[]", "_array"))(depth - 1)

    def branch(self, typ: str, depth: int) -> str:
        one, two = self.expr(typ, depth - 1), self.expr(typ, depth - 1)
        kind = self.rng.randrange(5)
        if kind == 0:
            return f"coalesce({one}, {two})"
        if kind == 1 and typ not in ("jsonb",):
            return f"nullif({one}, {two})"
        if kind == 2:
            arg = self.pick(["int4", "text", "bool"])
            value = self.expr(arg, depth - 1)
            return (
                f"(CASE {value} WHEN {self.pick(CONSTANTS[arg])} THEN {one}"
                f" WHEN {self.pick(CONSTANTS[arg])} THEN {two} END)"
            )
        other = "" if self.rng.random() < 0.5 else f" ELSE {two}"
        return f"(CASE WHEN {self.cond(depth - 1)} THEN {one}{other} END)"

    def make_int(self, typ: str, depth: int) -> str:
        kind = self.rng.randrange(10)
        one, two = self.expr(typ, depth), self.expr(typ, depth)
        if kind < 5:
            return f"({one} {self.pick('+-*/%')} {two})"
        if kind == 5:
            return f"abs({one})"
        if kind == 6:
            return f"(- {one})"
        if kind == 7:
            return f"({self.expr(self.pick(NUMBERS), depth)})::{typ}"
        if kind == 8:
            return f"length({self.expr('text', depth)})::{typ}"
        return f"({self.expr('date', depth)} - {self.expr('date', depth)})::{typ}"

    def make_int2(self, depth):
        return self.make_int("int2", depth)

    def make_int4(self, depth):
        if self.rng.random() < 0.1:
            return f"({self.expr('bool', depth)})::int4"
        return self.make_int("int4", depth)

    def make_int8(self, depth):
        return self.make_int("int8", depth)

    def make_float(self, typ: str, depth: int) -> str:
        kind = self.rng.randrange(8)
        one = self.expr(typ, depth)
        if kind < 4:
            return f"({one} {self.pick('+-*/')} {self.expr(typ, depth)})"
        if kind == 4:
            return f"abs({one})"
        if kind == 5:
            return f"(- {one})"
        if kind == 6 and typ == "float8":
            return f"date_part('{self.pick(FIELDS)}', {self.expr(self.pick(TIMES[1:]), depth)})"
        return f"({self.expr(self.pick(NUMBERS), depth)})::{typ}"

    def make_float8(self, depth):
        return self.make_float("float8", depth)

    def make_float4(self, depth):
        return self.make_float("float4", depth)

    def make_numeric(self, depth: int) -> str:
        kind = self.rng.randrange(12)
        one = self.expr("numeric", depth)
        if kind < 5:
            return f"({one} {self.pick('+-*+-*/%')} {self.expr('numeric', depth)})"
        if kind == 5:
            return f"abs({one})"
        if kind == 6:
            return f"(- {one})"
        if kind == 7:
            return (
                f"{self.pick(['round', 'trunc'])}({one}, {self.rng.randrange(-1, 6)})"
            )
        if kind == 8:
            return f"{self.pick(['ceil', 'floor'])}({one})"
        if kind == 9:
            return f"({one})::numeric({self.pick(['8,2', '20,6', '5,0', '12,4'])})"
        if kind == 10:
            return f"extract({self.pick(FIELDS)} FROM {self.expr(self.pick(TIMES[1:]), depth)})"
        return f"({self.expr(self.pick(NUMBERS), depth)})::numeric"

    def make_text(self, depth: int) -> str:
        one = self.expr("text", depth)
        return self.pick(
            [
                f"({one} || {self.expr('text', depth)})",
                f"lower({one})",
                f"upper({one})",
                f"substring({one} FROM {self.rng.randrange(1, 4)} FOR {self.rng.randrange(4)})",
                f"left({one}, 2)",
                f"replace({one}, 'e', 'E')",
                f"regexp_replace({one}, '{self.regex()}', '<\\&>', '{self.pick(['g', ''])}')",
                f"regexp_replace({one}, '^([^e]*)(.)(.*)$', '\\3\\1')",
                f"({self.expr('jsonb', depth)} ->> 'b')",
                f"({self.expr(self.pick(['int4', 'date', 'bool', 'numeric']), depth)})::text",
                f"to_char({self.expr('date', depth)}, 'YYYY-MM')",
            ]
        )

    def make_bool(self, depth: int) -> str:
        return f"({self.cond(depth)})"

    def make_date(self, depth: int) -> str:
        one = self.expr("date", depth)
        return self.pick(
            [
                f"({one} + {self.leaf('int4')} % 1000)",
                f"({one} - 30)",
                f"({self.expr(self.pick(TIMES[1:]), depth)})::date",
            ]
        )

    def make_time_of(self, typ: str, depth: int) -> str:
        one = self.expr(typ, depth)
        spans = ["90 min", "1 day", "1 month", "-3 days 2 h", "0.5 s"]
        return self.pick(
            [
                f"date_trunc('{self.pick(UNITS)}', {one})",
                f"({one} {self.pick('+-')} interval '{self.pick(spans)}')",
                f"({self.expr(self.pick(TIMES), depth)})::{typ}",
            ]
        )

    def make_timestamp(self, depth):
        return self.make_time_of("timestamp", depth)

    def make_timestamptz(self, depth):
        return self.make_time_of("timestamptz", depth)

    def make_time(self, depth):
        return f"({self.expr('timestamp', depth)})::time"

    def make_jsonb(self, depth):
        return f'({self.expr("jsonb", depth)} || \'{{"b": "q"}}\'::jsonb)'

    def make_text_array(self, depth):
        return f"({self.expr('text[]', depth)} || 'z'::text)"

    # ---- conditions ----

    def cond(self, depth: int) -> str:
        kind = self.rng.randrange(16)
        if depth > 0 and kind < 3:
            word = self.pick(["AND", "OR"])
            one, two = self.cond(depth - 1), self.cond(depth - 1)
            both = f"({one} {word} {two})"
            if word == "AND":
                self._both[both] = self._conjuncts(one) + self._conjuncts(two)
            return both
        if depth > 0 and kind == 3:
            return f"(NOT {self.cond(depth - 1)})"
        typ = self.pick(ORDERED)
        one = self.expr(typ, depth - 1)
        if kind < 9:
            op = self.pick(["<", "<=", "=", ">=", ">", "<>"])
            return f"{one} {op} {self.expr(typ, depth - 1)}"
        if kind == 9:
            return f"{one} IS {self.pick(['', 'NOT '])}NULL"
        if kind == 10:
            return f"{one} IS {self.pick(['', 'NOT '])}DISTINCT FROM {self.leaf(typ)}"
        if kind == 11:
            many = ", ".join(
                self.pick(CONSTANTS[typ]) for _ in range(self.rng.randrange(1, 5))
            )
            return f"{one} {self.pick(['', 'NOT '])}IN ({many})"
        if kind == 12:
            return f"{one} BETWEEN {self.leaf(typ)} AND {self.leaf(typ)}"
        if kind == 13:
            test = self.pick(["TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN"])
            return f"({self.cond(depth - 1)}) IS {test}"
        return self.pick(
            [
                f"{self.expr('text', depth - 1)} {self.pick(['', 'NOT '])}LIKE '{self.pattern()}'",
                f"{self.expr('text', depth - 1)} ILIKE '{self.pattern()}'",
                f"{self.expr('text', depth - 1)} {self.pick(['~', '!~', '~*'])} '{self.regex()}'",
                f"{self.expr('jsonb', depth - 1)} @> '{{\"a\": {self.rng.randrange(20)}}}'",
                f"{self.expr('jsonb', depth - 1)} ? '{self.pick('abz')}'",
                f"{self.expr('text[]', depth - 1)} @> ARRAY['t{self.rng.randrange(10)}']",
                f"{self.expr('text[]', depth - 1)} && ARRAY['t1', 't9']",
                f"'t{self.rng.randrange(5)}' = ANY ({self.expr('text[]', depth - 1)})",
                f"tbl IS {self.pick(['', 'NOT '])}NULL",
            ]
        )

    def regex(self) -> str:
        return self.pick(
            [
                "^r",
                "e$",
                "[0-9]{2}",
                "b.u",
                "^[^e]+$",
                "(r|bl)u?e",
                "[a-f]+?1",
                "\\d",
                "",
            ]
        )

    def pattern(self) -> str:
        return self.pick(
            [
                "r%",
                "%e%",
                "_l%",
                "%1",
                "v1_",
                "a\\_%",
                "",
                "%",
                "%a%b%",
                "b%e",
                "%1%2%3",
                "g%%n",
            ]
        )

    # ---- queries ----

    def where(self) -> str:
        if self.rng.random() < 0.3:
            return ""
        self._both = {}
        cond = self.cond(self.rng.randrange(1, 4))
        self.conditions = self._conjuncts(cond)
        return " WHERE " + cond

    def _conjuncts(self, cond: str) -> list[str]:
        return self._both.get(cond, [cond])

    def _out(self, *exprs: str) -> str:
        """The expressions, remembered, as a list."""
        self.outputs += exprs
        return ", ".join(exprs)

    def linear(self) -> str:
        """Steps with constants over an integer column."""
        expr = self.leaf(self.pick(INTS))
        for _ in range(self.rng.randrange(1, 4)):
            constant = self.pick(CONSTANTS[self.pick(INTS)])
            op = self.pick("++-*")
            if self.rng.random() < 0.1:
                expr = f"(- {expr})"
            elif self.rng.random() < 0.1:
                expr = f"({expr})::{self.pick(INTS)}"
            elif self.rng.random() < 0.3:
                expr = f"({constant} {op} {expr})"
            else:
                expr = f"({expr} {op} {constant})"
        return expr

    def aggregate(self) -> str:
        depth = self.rng.randrange(3)
        typ = self.pick(NUMBERS)
        kind = self.rng.randrange(12)
        if kind == 0:
            agg = "count(*)"
        elif kind == 1:
            agg = f"count({self.expr(self.pick(ORDERED), depth)})"
        elif kind == 2:
            agg = f"count(DISTINCT {self.expr(self.pick(ORDERED), depth)})"
        elif kind in (3, 4):
            agg = f"{self.pick(['min', 'max'])}({self.expr(self.pick([*NUMBERS, *TIMES, 'text']), depth)})"
        elif kind == 5:
            agg = f"{self.pick(['bool_and', 'bool_or'])}({self.cond(depth)})"
        elif kind == 6:
            fn = self.pick(["stddev", "variance", "var_pop", "stddev_pop"])
            agg = f"{fn}({self.expr(self.pick(['int4', 'numeric', 'int2']), depth)})"
        elif kind < 10:
            agg = f"{self.pick(['sum', 'avg'])}({self.expr(typ, depth)})"
        else:
            agg = f"{self.pick(['sum', 'avg'])}({self.linear()})"
        if self.rng.random() < 0.2:
            agg += f" FILTER (WHERE {self.cond(1)})"
        return agg

    def query(self) -> str:
        self.outputs, self.conditions = [], []
        kind = self.rng.randrange(9)
        self.limited = kind in (1, 6)
        depth = self.rng.randrange(4)
        if kind == 0:
            return f"SELECT count(*), sum(k) FROM TBL tbl{self.where()}"
        if kind == 1:
            out = self._out(self.expr(self.pick([*ORDERED, "jsonb", "text[]"]), depth))
            return f"SELECT k, {out} FROM TBL tbl{self.where()} ORDER BY k LIMIT {self.rng.randrange(1, 200)}"
        if kind == 2:
            aggs = self._out(
                *(self.aggregate() for _ in range(self.rng.randrange(1, 5)))
            )
            return f"SELECT {aggs} FROM TBL tbl{self.where()}"
        if kind in (3, 4):
            return self.grouped(depth)
        if kind == 5:
            keys = self._out(
                *(
                    self.expr(self.pick(ORDERED), self.rng.randrange(2))
                    for _ in range(self.rng.randrange(1, 3))
                )
            )
            return f"SELECT DISTINCT {keys} FROM TBL tbl{self.where()}"
        if kind == 7:
            return self.set_operation(depth)
        if kind == 8:
            return self.unnested(depth)
        key = self._out(self.expr(self.pick(ORDERED), depth))
        order = self.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
        offset = f" OFFSET {self.rng.randrange(50)}" if self.rng.random() < 0.3 else ""
        return (
            f"SELECT k, {key}, u FROM TBL tbl{self.where()} ORDER BY 2{order}, k"
            f" LIMIT {self.rng.randrange(1, 300)}{offset}"
        )

    def grouped(self, depth: int) -> str:
        nkeys = self.rng.randrange(1, 4)
        keys = [
            self.expr(self.pick([*ORDERED, "jsonb"]), min(depth, self.rng.randrange(3)))
            for _ in range(nkeys)
        ]
        aggs = [self.aggregate() for _ in range(self.rng.randrange(3))]
        having = (
            f" HAVING {self.pick(['count(*) > 3', 'max(k) > 9000'])}"
            if self.rng.random() < 0.2
            else ""
        )
        order = self.first_groups(nkeys, len(aggs)) if self.rng.random() < 0.3 else ""
        # a key that is a constant integer would be taken for a column number
        keys = [
            f"({key})" if i else f"coalesce({key}, NULL)" for i, key in enumerate(keys)
        ]
        return (
            f"SELECT {self._out(*keys, *aggs)} FROM TBL tbl{self.where()}"
            f" GROUP BY {self.sets(nkeys)}{having}{order}"
        )

    def set_operation(self, depth: int) -> str:
        """Of expressions and columns.  These raise no error, and some rows have them:
        an arm may not be read at all if the other one is empty."""
        types = [
            self.pick([*ORDERED, "jsonb"]) for _ in range(self.rng.randrange(1, 4))
        ]
        out = self._out(*(self.expr(typ, min(depth, 2)) for typ in types))
        columns = ", ".join(self.pick(BY_TYPE[typ]) for typ in types)
        some = self.pick(["", " WHERE k % 3 = 1", " WHERE j4 < 20", " WHERE b"])
        arms = [
            f"SELECT {out} FROM TBL tbl{self.where()}",
            f"SELECT {columns} FROM TBL tbl{some}",
        ]
        self.rng.shuffle(arms)
        operation = self.pick(["UNION", "INTERSECT", "EXCEPT"])
        return f" {operation}{self.pick(['', ' ALL'])} ".join(arms)

    def unnested(self, depth: int) -> str:
        """Elements of arrays: in FROM, or in a target list."""
        array = self.expr("text[]", min(depth, 2))
        aggs = self._out(*(self.aggregate() for _ in range(self.rng.randrange(1, 3))))
        if self.rng.random() < 0.3:
            return (
                f"SELECT unnest({array}), {aggs} FROM TBL tbl{self.where()} GROUP BY 1"
            )
        where = self.where()
        if self.rng.random() < 0.3:
            more = self.pick(["el <> 't1'", "el < t", "length(el) > j4"])
            where = f"{where or ' WHERE true'} AND {more}"
            some = f"EXISTS (SELECT FROM unnest({array}) el WHERE {more})"
            self.conditions = [*self.conditions, some]
        key = self.pick(["el", "upper(el)", "el, b", "el || u"])
        return (
            f"SELECT {key}, {aggs} FROM TBL tbl, unnest({array}) el{where}"
            f" GROUP BY {key}"
        )

    def sets(self, nkeys: int) -> str:
        """What to group by: the first outputs, or sets of them."""
        numbers = [str(i + 1) for i in range(nkeys)]
        both = ", ".join(numbers)
        if self.rng.random() < 0.75:
            return both
        some = [
            f"({', '.join(n for n in numbers if self.rng.random() < 0.5)})"
            for _ in range(self.rng.randrange(1, 4))
        ]
        return self.pick(
            [f"ROLLUP ({both})", f"CUBE ({both})", f"GROUPING SETS ({', '.join(some)})"]
        )

    def first_groups(self, nkeys: int, naggs: int) -> str:
        """ORDER BY an output, then all others, LIMIT."""
        first = self.rng.randrange(nkeys + naggs) + 1
        order = self.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
        rest = "".join(f", {i + 1}" for i in range(nkeys + naggs) if i + 1 != first)
        offset = f" OFFSET {self.rng.randrange(9)}" if self.rng.random() < 0.3 else ""
        return (
            f" ORDER BY {first}{order}{rest} LIMIT {self.rng.randrange(1, 40)}{offset}"
        )
