"""Random JSON documents, and random queries of what is in them.

A Shape makes documents that look alike, as those of one application do; a
DocumentQueries makes up queries of a table (k int, d jsonb, j json, z zson).
Both take their paths from one set of keys, so that queries find something.
"""

from __future__ import annotations

import json

KEYS = ["a", "b", "c", "os", "id", "n", "ts", "tags", "items", "size"]
ODD_KEYS = ["", "é", "中", "A", "a b", "a.b", "$", '"', "\\", "0", "-1", "k" * 300, "*"]
STRINGS = ["", "a", "b", "x", "key", "en", "de", "é", "中\U0001f600", "t", "true", "off",
           "12", " 7 ", "-0", "1.50", "1e5", "0x1F", "9223372036854775808", "null", "NaN",
           "infinity", "2024-02-29", "2024-02-29T12:34:56.789Z", "2023-11-05 01:30:00+02",
           "2023-02-30", "12:34:56", "tab\tnew\nline", 'quote"\\', "a" * 90, "{}", "[1]"]  # fmt: skip
NUMBERS = ["0", "-0", "1", "7", "-3", "42", "1.0", "1.50", "-2.25", "0.00", "1e3", "1E-5",
           "32768", "2147483648", "-9223372036854775808", "9223372036854775808", "1e20",
           "12345678901234567890.123456789", "1e400", "-1e-400", "0.1e1", "1700000000"]  # fmt: skip
# Text that only json keeps, and that some functions raise errors for.
JSON_ONLY = [r'{"a": 1, "a": "two", "b": {"c": 1, "c": 2}}', r'{"a": "\u0000"}',
             r'{"a": "\ud800", "b": 1}', ' { "a" :\n[ 1 , 2 ] } ', r'{"\u0061": "\u00e9\/"}',
             '[{"a": 1, "a": 2}, {}]', '{"a": 1e1000000}', '{"b": 1.0E+2, "b": null}']  # fmt: skip


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def path_key(key: str) -> str:
    """A key in a json path."""
    return json.dumps(key)


class Shape:
    """A kind of documents: at each key a kind of value, mostly the same."""

    def __init__(self, rng):
        self.rng = rng
        self.ascii = rng.random() < 0.3
        self.root = self._object(0) if rng.random() < 0.9 else self._kind(0)

    def _key(self) -> str:
        return self.rng.choice(KEYS if self.rng.random() < 0.85 else ODD_KEYS)

    def _object(self, depth: int):
        keys = {self._key() for _ in range(self.rng.randrange(9 if depth < 2 else 4))}
        pairs = []
        for key in sorted(keys):
            often = self.rng.choice((1, 1, 1, 0.95, 0.5, 0.05, 0.01))
            pairs.append((key, often, self._kind(depth + 1)))
        return ("object", pairs)

    def _kind(self, depth: int):
        names = ["int", "number", "few", "string", "time", "bool", "null", "wild"]
        if depth < 5:
            names += ["object", "object", "array", "mixed", "mixed"]
        name = self.rng.choice(names)
        if name == "object":
            return self._object(depth)
        if name == "array":
            often_objects = depth < 4 and self.rng.random() < 0.5
            of = self._object(depth + 1) if often_objects else self._kind(depth + 1)
            return ("array", self.rng.choice((1, 2, 3, 8)), of)
        if name == "mixed":
            main, other = self._kind(depth + 1), self._kind(depth + 1)
            return ("mixed", self.rng.choice((0.5, 0.1, 0.01)), main, other)
        return (name, self.rng.choice((3, 100, 10**6, 10**12)))

    def text(self, json_only: bool) -> str:
        """A document; some of json's own, which jsonb does not take as they are."""
        if json_only and self.rng.random() < 0.02:
            return self.rng.choice(JSON_ONLY)
        if self.rng.random() < 0.01:
            return self.rng.choice(
                ["null", "[]", "{}", '"a"', "7", "true", '[{"a": [1]}]', "[[[]]]"]
            )
        return self._value(self.root)

    def _string(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.ascii)

    def _value(self, kind) -> str:
        rng = self.rng
        match kind[0]:
            case "object":
                pairs = [
                    f"{self._string(key)}: {self._value(of)}"
                    for key, often, of in kind[1]
                    if rng.random() < often
                ]
                if rng.random() < 0.01:
                    pairs.append(f'"rare{rng.randrange(300)}": {rng.randrange(9)}')
                if rng.random() < 0.02:
                    rng.shuffle(pairs)
                return "{" + ", ".join(pairs) + "}"
            case "array":
                values = (
                    self._value(kind[2]) for _ in range(rng.randrange(kind[1] + 1))
                )
                return "[" + ", ".join(values) + "]"
            case "mixed":
                return self._value(kind[3] if rng.random() < kind[1] else kind[2])
            case "int":
                return str(rng.randrange(-3, kind[1]))
            case "number":
                return f"{rng.uniform(-5, kind[1]):.{rng.choice((0, 1, 2, 2, 6))}f}"
            case "few":
                return self._string(STRINGS[rng.randrange(kind[1]) % len(STRINGS)])
            case "string":
                return self._string(
                    f"v{rng.randrange(kind[1])}" * rng.choice((1, 1, 1, 9))
                )
            case "time":
                day = rng.randrange(1, 29)
                return f'"20{day:02}-{day % 12 + 1:02}-{day:02}T{day % 24:02}:00:{day:02}Z"'
            case "bool":
                return rng.choice(("true", "false"))
            case "null":
                return "null"
        return rng.choice((
            rng.choice(NUMBERS), self._string(rng.choice(STRINGS)), "[]", "{}", "null", "true",
            "7" * rng.choice((5, 40, 40, 1000)), f"0.{'3' * rng.choice((5, 40, 40, 900))}",
            self._string("long " * rng.choice((1, 1, 1, 60, 60, 60, 1200))), '{"a": {"b": [1, {"c": null}]}}',
            "[" * 30 + "]" * 30, '[1, "2", null, {"a": 3}, [4]]',
        ))  # fmt: skip

    def paths(self) -> list[tuple[tuple[str, ...], str]]:
        """Paths of the shape, those of elements of arrays by number, and what is there."""
        found = []

        def walk(kind, path):
            if path:
                found.append((path, kind[0]))
            match kind[0]:
                case "object":
                    for key, _, of in kind[1]:
                        walk(of, (*path, key))
                case "array":
                    walk(kind[2], (*path, str(self.rng.randrange(3))))
                case "mixed":
                    walk(kind[2], path)
                    walk(kind[3], path)

        walk(self.root, ())
        return found or [(("a",), "wild")]


class DocumentQueries:
    """Makes up queries of TBL tbl.

    Each query has, as tests that compare errors need them, its conditions in
    their order, its other expressions, and whether a LIMIT hides rows."""

    def __init__(self, rng, version: int, paths: list[tuple[tuple[str, ...], str]]):
        self.rng = rng
        self.version = version
        self.known = paths
        self.variable = False
        self.conditions: list[str] = []
        self.outputs: list[str] = []
        self.limited = False

    def pick(self, *choices):
        return self.rng.choice(choices)

    # ---- paths ----

    def path(self, *kinds: str) -> tuple[str, ...]:
        """A path; mostly one where such values are, if kinds are given."""
        rng = self.rng
        if kinds and rng.random() < 0.8:
            fitting = [path for path, kind in self.known if kind in kinds]
            if fitting:
                return rng.choice(fitting)
        if rng.random() < 0.15:
            keys = KEYS + ODD_KEYS + ["0", "1", "-1", "rare7"]
            return tuple(rng.choice(keys) for _ in range(rng.randrange(1, 4)))
        path, _ = rng.choice(self.known)
        if rng.random() < 0.1:
            path = (*path[: rng.randrange(len(path) + 1)], rng.choice(KEYS))
        elif rng.random() < 0.1:
            path = (*path, self.pick("0", "a", "1", "-1"))
        return path

    def key(self) -> str:
        return self.rng.choice(self.path())

    def array(self, keys) -> str:
        if not keys:
            return "'{}'::text[]"
        inner = ",".join(json.dumps(k, ensure_ascii=False) for k in keys)
        return quoted("{" + inner + "}")

    def arrow(self, base: str, path, last: str = "->") -> str:
        """base -> 'a' -> 0 ->> 'b'"""
        for i, key in enumerate(path):
            op = last if i == len(path) - 1 else "->"
            number = key.lstrip("-").isdigit() and self.rng.random() < 0.8
            base = f"{base} {op} {key if number and key[0] != '-' else f'({key})' if number else quoted(key)}"
        return f"({base})"

    # ---- documents ----

    def document(self, depth: int = 1) -> str:
        """A jsonb."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.25:
            return self.pick("d", "d", "d", self.arrow("d", self.path()))
        path, inner = self.path(), self.document(depth - 1)
        choices = [
            self.arrow("d", path),
            self.arrow("d", path),
            self.arrow(inner, path[-1:]),
            f"({inner} #> {self.array(path)})",
            f"(d #> {self.array(path)})",
            "(d)" + "".join(f"[{quoted(key)}]" for key in path),
            f"jsonb_extract_path(d, {', '.join(map(quoted, path))})",
            f"({inner} - {quoted(self.key())})",
            f"({inner} - {self.array([self.key(), self.key()])}::text[])",
            f"({inner} - {self.pick('0', '1', '(-1)')})",
            f"({inner} #- {self.array(path)})",
            f"({inner} || {self.pick(self.constant(), self.document(depth - 1))})",
            f"jsonb_set({inner}, {self.array(path)}, {self.constant()}, {self.pick('true', 'false')})",
            f"jsonb_insert({inner}, {self.array(path)}, {self.constant()})",
            f"jsonb_set_lax({inner}, {self.array(path)}, {self.pick('NULL', self.constant())}, true, 'delete_key')",
            f"jsonb_strip_nulls({inner})",
            f"coalesce({inner}, {self.document(depth - 1)})",
            f"CASE WHEN {self.condition(0)} THEN {inner} ELSE {self.document(depth - 1)} END",
            f"jsonb_build_object('k', k, 'v', {inner})",
            f"jsonb_build_array({inner}, {self.text(0)})",
            f"to_jsonb({self.text(depth - 1)})",
            f"jsonb_path_query_first({inner}, {self.json_path(variables=True)}{self.variables()})",
            f"jsonb_path_query_array({inner}, {self.json_path(variables=True)}{self.variables()})",
            f"jsonb_path_query_array_tz({inner}, {self.json_path()})",
        ]
        if self.version >= 17:
            wrapper = self.pick("", " WITH WRAPPER", " WITH CONDITIONAL WRAPPER")
            choices.append(f"json_query({inner}, {self.json_path()}{wrapper})")
        if self.version >= 18:
            choices.append(f"jsonb_strip_nulls({inner}, true)")
        return rng.choice(choices)

    def constant(self) -> str:
        value = self.pick(
            self.rng.choice(NUMBERS), json.dumps(self.rng.choice(STRINGS)), "null", "true",
            "[]", "{}", '["key", 1]', '{"a": 1}', '{"a": {"b": "x"}}', "[{}]",
            f"{self.rng.randrange(9)}",
        )  # fmt: skip
        for key in reversed(self.path()[: self.rng.randrange(3)]):
            if key.isdigit() and self.rng.random() < 0.7:
                value = f"[{value}]"
            else:
                value = f"{{{json.dumps(key)}: {value}}}"
        return quoted(value) + "::jsonb"

    def variables(self) -> str:
        vars = self.pick(
            """'{"x": 3, "s": "x"}'""",
            """'{"x": 3, "s": "x"}'""",
            "jsonb_build_object('x', k, 's', 'v1')",
            f"jsonb_build_object('x', {self.arrow('d', self.path())}, 's', 'v1')",
        )
        return f", {vars}{self.pick('', ', true', ', silent => true')}"

    def json_path(self, predicate: bool = False, variables: bool = False) -> str:
        """A json path; $x and $s may be in it if they are given."""
        self.variable = variables
        mode = self.pick("", "", "", "lax ", "strict ")
        body = self.accessors("$", self.path())
        if predicate:
            body = self.predicate(body)
        else:
            body += self.pick("", "", self.method(), self.filter(), self.filter())
            body = self.pick(
                body, body, body, body, body, body,
                f"-{body}", f"{body} + 1", f"{body}[*] * $.n", f"({body}).a",
            )  # fmt: skip
        return quoted(mode + body) + "::jsonpath"

    def accessors(self, start: str, path) -> str:
        text = start
        for key in path:
            if key.isdigit() and self.rng.random() < 0.8:
                text += self.pick(
                    "[*]", "[*]", f"[{key}]", "[last]", "[0 to 1]", "[last - 1]"
                )
            else:
                text += "." + path_key(key)
        if self.rng.random() < 0.15:
            text += self.pick("[*]", ".*", ".**", ".**{1 to 2}", "[0]", ".**{last}")
        return text

    def method(self) -> str:
        names = ["type()", "size()", "double()", "ceiling()", "floor()", "abs()",
                 "keyvalue()", "datetime()"]  # fmt: skip
        if self.version >= 17:
            names += ["bigint()", "integer()", "number()", "string()", "boolean()",
                      "decimal(8, 2)", "date()", "timestamp_tz()"]  # fmt: skip
        method = "." + self.rng.choice(names)
        return method + (".value" if method == ".keyvalue()" else "")

    def filter(self) -> str:
        below = self.path()[-1:] if self.rng.random() < 0.5 else ()
        return f" ? ({self.predicate(self.accessors('@', below))})"

    def predicate(self, of: str, depth: int = 1) -> str:
        operand = self.pick(
            str(self.rng.randrange(9)), '"x"', '"en"', "true", "null", "1.5",
            *(("$x", "$s") if self.variable else ()), self.accessors("$", self.path()),
        )  # fmt: skip
        choices = [f"{of} {self.pick('==', '!=', '<', '<=', '>', '>=')} {operand}"] * 4
        choices += [
            f"exists({of})",
            f'{of} like_regex "{self.pick("^v1", "[0-9]$", "e")}"{self.pick("", """ flag "i" """)}',
            f'{of} starts with {self.pick(""" "v" """, """ "" """, "$s" if self.variable else """ "e" """)}',
            f"({of} > 2) is unknown",
            f"!({of} == {operand})",
            f"{of}.size() > 1",
            f"{of}.type() == {self.pick(*(chr(34) + t + chr(34) for t in ('string', 'number', 'object', 'array')))}",
        ]
        if depth > 0:
            one, two = self.predicate(of, 0), self.predicate(of, 0)
            choices += [f"({one}) {self.pick('&&', '||')} ({two})"] * 2
        return self.rng.choice(choices)

    # ---- scalars ----

    def text(self, depth: int = 1) -> str:
        path = self.path()
        inner = self.document(depth - 1)
        choices = [
            self.arrow("d", path, "->>"),
            self.arrow("d", path, "->>"),
            self.arrow("d", path, "->>"),
            f"(d #>> {self.array(path)})",
            f"({inner} #>> {self.array(path)})",
            f"jsonb_extract_path_text(d, {', '.join(map(quoted, path))})",
            f"({inner})::text",
            f"jsonb_typeof({inner})",
            self.of_json(),
            self.of_json(),
            self.of_zson(),
        ]
        if depth > 0:
            choices += [
                f"jsonb_pretty({inner})",
                f"lower({self.text(depth - 1)})",
                f"substr({self.text(depth - 1)}, 2, 3)",
                f"coalesce({self.text(depth - 1)}, 'none')",
                f"({self.text(depth - 1)} || '!')",
                f"nullif({self.text(depth - 1)}, 'x')",
            ]
        if self.version >= 17:
            choices += [
                f"json_value({inner}, {self.json_path()})",
                f"json_value({self.pick('d', 'j')}, {self.json_path(variables=True)} PASSING k AS x, 'v1' AS s ERROR ON ERROR)",
                f"json_serialize({inner})",
            ]
        return self.rng.choice(choices)

    def of_json(self) -> str:
        """A text of the json column."""
        path = self.path()
        choices = [
            self.arrow("j", path, "->>"),
            self.arrow("j", path, "->>"),
            f"{self.arrow('j', path)}::text",
            f"(j #>> {self.array(path)})",
            f"json_typeof({self.arrow('j', path)})",
            f"json_extract_path_text(j, {', '.join(map(quoted, path))})",
            f"json_array_length({self.arrow('j', path)})::text",
            f"json_strip_nulls({self.pick('j', self.arrow('j', path))})::text",
            "j::text",
            "j::jsonb::text",
        ]
        if self.version >= 17:
            choices += [
                f"json_value(j, {self.json_path()})",
                f"json_query(j, {self.json_path()} WITH WRAPPER)::text",
            ]
        return self.rng.choice(choices)

    def of_zson(self) -> str:
        path = self.path()
        return self.pick(
            self.arrow("z", path, "->>"),
            self.arrow("z", path, "->>"),
            f"{self.arrow('z', path)}::text",
            f"(z #>> {self.array(path)})",
            f"zson_typeof({self.arrow('z', path)})",
            f"zson_array_length({self.arrow('z', path)})::text",
            f"(z - {quoted(self.key())})::text",
            f"(z #- {self.array(path)})::text",
            f"{self.arrow('z', path)}::numeric::text",
            f"(z @> {self.constant()})::text",
            f"(z ? {quoted(self.key())})::text",
            f"(z @? {self.json_path()})::text",
            "z::text",
        )

    def number(self, depth: int = 1) -> str:
        typ = self.pick(
            "bigint", "numeric", "int", "float8", "smallint", "numeric(12,2)"
        )
        path = self.path("int", "number")
        choices = [
            f"({self.arrow('d', path, '->>')})::{typ}",
            f"({self.arrow('d', path, '->>')})::{typ}",
            f"({self.arrow('d', path)})::{typ}",
            f"({self.arrow('d', path)})::{typ}",
            f"({self.text(depth - 1)})::{typ}",
            f"jsonb_array_length({self.document(depth - 1)})",
            f"jsonb_array_length({self.arrow('d', self.path('array'))})",
            f"length({self.text(depth - 1)})",
            f"extract(epoch FROM {self.time()})",
            f"(({self.arrow('d', path, '->>')})::{typ} + 1)",
        ]
        if self.version >= 17:
            choices += [
                f"json_value(d, {self.json_path()} RETURNING {typ})",
                f"CASE WHEN d IS NOT NULL THEN json_value(d, {self.json_path()} RETURNING {typ} DEFAULT -1 ON EMPTY DEFAULT -2 ON ERROR) END",
            ]
        return self.rng.choice(choices)

    def time(self) -> str:
        text = self.arrow("d", self.path("time"), "->>")
        if self.rng.random() < 0.15:
            text = self.arrow("d", self.path("int", "number"), "->>")
            return f"to_timestamp(({text})::float8)"
        time = (
            f"({text})::{self.pick('timestamptz', 'timestamptz', 'timestamp', 'date')}"
        )
        return self.pick(
            time, time, f"date_trunc('{self.pick('day', 'hour', 'year')}', {time})"
        )

    def safe_cast(self) -> str:
        """A cast behind the condition that keeps errors away."""
        path = self.path("int", "number", "array", "bool", "time")
        text, value = self.arrow("d", path, "->>"), self.arrow("d", path)
        return self.pick(
            f"CASE WHEN {text} ~ '^-?[0-9]{{1,9}}$' THEN ({text})::{self.pick('int', 'bigint', 'numeric')} END",
            f"CASE WHEN jsonb_typeof({value}) = 'number' THEN ({value})::numeric END",
            f"CASE WHEN jsonb_typeof({value}) = 'array' THEN jsonb_array_length({value}) END",
            f"CASE WHEN jsonb_typeof({value}) = 'boolean' THEN ({value})::boolean END",
            f"CASE WHEN {text} ~ '^20[0-9]{{2}}-[01][0-9]-[012][0-8]T' THEN ({text})::timestamptz END",
        )

    def condition(self, depth: int = 1) -> str:
        path = self.path()
        text = self.text(0)
        doc = self.pick("d", self.arrow("d", path), self.document(depth - 1))
        compare = self.pick("=", "<>", "<", ">=")
        choices = [
            f"{doc} ? {quoted(self.key())}",
            f"{doc} {self.pick('?|', '?&')} {self.array([self.key(), self.key()])}",
            f"{doc} @> {self.constant()}",
            f"d @> {self.constant()}",
            f"{self.constant()} {self.pick('<@', '@>')} {doc}",
            f"{doc} <@ {self.constant()}",
            f"{doc} @? {self.json_path()}",
            f"{doc} @@ {self.json_path(True)}",
            f"jsonb_path_exists({doc}, {self.json_path(variables=True)}{self.variables()})",
            f"jsonb_path_match({doc}, {self.json_path(True, True)}{self.variables()})",
            f"({self.arrow('d', self.path('bool'), '->>')})::boolean",
            f"({self.arrow('d', self.path('bool'))})::boolean",
            f"{doc} IS {self.pick('', 'NOT ')}NULL",
            f"{doc} {compare} {self.constant()}",
            f"{text} IS {self.pick('', 'NOT ')}NULL",
            f"{text} {compare} {quoted(self.rng.choice(STRINGS))}",
            f"{text} IN ('x', 'en', '7', 'v1', '')",
            f"{text} {self.pick('LIKE', 'NOT LIKE', 'ILIKE')} '{self.pick('v%', '%1', '%e%', '')}'",
            f"{text} ~ '{self.pick('^v', '[0-9]$', 'a|b')}'",
            f"{self.number(0)} {compare} {self.rng.randrange(100)}",
            f"{self.time()} {compare} '2010-06-01'",
            f"({self.safe_cast()})::text > '3'",
        ]
        if self.version >= 16:
            choices.append(f"({text} IS JSON{self.pick('', ' OBJECT', ' SCALAR')})")
        if self.version >= 17:
            # After a row in error the server gives what is ON ERROR for a NULL
            # document, too: its result depends on the order of rows.
            choices.append(
                f"CASE WHEN {doc} IS NOT NULL THEN json_exists({doc},"
                f" {self.json_path(variables=True)} PASSING 3 AS x, 'v1' AS s) END"
            )
        if depth > 0:
            choices += [
                f"({self.condition(depth - 1)} OR {self.condition(depth - 1)})",
                f"(NOT {self.condition(depth - 1)})",
                f"({self.condition(depth - 1)}) IS {self.pick('TRUE', 'NOT TRUE', 'UNKNOWN')}",
            ] * 2
        return "(" + self.rng.choice(choices) + ")"

    def output(self) -> str:
        return self.pick(
            self.document(2), self.document(1), self.arrow("d", self.path()), self.text(2),
            self.arrow("d", self.path(), "->>"), self.number(), self.time(), self.condition(1),
            self.safe_cast(), "d",
        )  # fmt: skip

    # ---- queries ----

    def where(self) -> str:
        if self.rng.random() < 0.35:
            return ""
        self.conditions = [self.condition() for _ in range(self.pick(1, 1, 2, 3))]
        if self.rng.random() < 0.3:
            self.conditions.append(f"k % {self.pick(3, 7)} < 2")
        return " WHERE " + " AND ".join(self.conditions)

    def out(self, *expressions: str) -> str:
        self.outputs += expressions
        return ", ".join(expressions)

    def outs(self, most: int) -> str:
        return self.out(*(self.output() for _ in range(self.rng.randint(1, most))))

    def rows_of(self) -> tuple[str, str]:
        """A function that returns rows, and its columns as one text."""
        doc = self.pick("d", self.arrow("d", self.path("array", "object")),
                        self.arrow("d", self.path("array")), self.document(1))  # fmt: skip
        of_json = self.arrow("j", self.path("array", "object"))
        choices = [
            f"jsonb_array_elements({doc})",
            f"jsonb_array_elements_text({doc})",
            f"jsonb_array_elements(CASE jsonb_typeof({doc}) WHEN 'array' THEN {doc} END)",
            f"jsonb_object_keys({doc})",
            f"jsonb_object_keys(CASE jsonb_typeof({doc}) WHEN 'object' THEN {doc} END)",
            f"jsonb_each({doc})",
            f"jsonb_each_text({doc})",
            f"jsonb_path_query({doc}, {self.json_path()})",
            f"jsonb_path_query({doc}, {self.json_path(variables=True)}{self.variables()})",
            f"jsonb_path_query_tz({doc}, {self.json_path()})",
            f"json_array_elements({of_json})",
            f"json_array_elements_text({of_json})",
            f"json_object_keys({of_json})",
            f"json_each_text({self.pick('j', of_json)})",
        ]
        chosen = self.rng.choice(choices)
        whole = not chosen.startswith(("jsonb_each", "json_each"))
        return chosen, "f::text" if whole else self.pick("f::text", "f.key")

    def record_of(self) -> tuple[str, str]:
        """Others, which a FROM alone can call."""
        doc = self.pick("d", self.arrow("d", self.path("object", "array")))
        one, two = self.key().replace('"', '""'), self.key().replace('"', '""')
        names = {name[:60] or "a" for name in (one, two)}
        types = ("text", "jsonb", "int", "numeric", "timestamptz", "boolean", "text[]")
        columns = ", ".join(f'"{name}" {self.pick(*types)}' for name in sorted(names))
        choices = [
            f"jsonb_to_record({doc}) AS f({columns})",
            f"jsonb_to_recordset({doc}) AS f({columns})",
            f"json_to_record({self.arrow('j', self.path())}) AS f({columns})",
        ]
        if self.version >= 17:
            at = self.accessors("$", self.path()).replace("'", "''")
            below = self.accessors("$", self.path()[-1:]).replace("'", "''")
            choices += [
                f"json_table({doc}, '{self.pick('', 'strict ')}{at}' COLUMNS (o FOR ORDINALITY,"
                f" x {self.pick('text', 'int', 'jsonb')} PATH '{below}'{self.pick('', ' ERROR ON ERROR')},"
                f" e boolean EXISTS PATH '{below}'{self.pick('', ', NESTED PATH ' + quoted('$[*]') + ' COLUMNS (w text PATH ' + quoted('$') + ')')})"
                f"{self.pick('', ' ERROR ON ERROR')}) AS f"
            ] * 3
        return self.rng.choice(choices), "f::text"

    def plain(self) -> str:
        return f"SELECT k, {self.outs(4)} FROM TBL tbl{self.where()}"

    def documents(self) -> str:
        return f"SELECT k, {self.pick('d', 'd, j', 'd, j, z', 'tbl')}, {self.outs(2)} FROM TBL tbl{self.where()}"

    def aggregate(self) -> str:
        def of(form: str, argument: str) -> str:
            self.outputs.append(argument)
            return form.format(argument)

        calls = [
            "count(*)",
            of("count({})", self.output()),
            of("min({})", self.text()),
            of('max({} COLLATE "C")', self.text()),
            of("sum(({})::numeric)", self.number()),
            of("max({})", self.number()),
            of("count(DISTINCT {})", self.text()),
            of("bool_or({})", self.condition()),
            of("min({})", self.time()),
            of("md5(string_agg({}, ',' ORDER BY k))", self.text()),
            of("md5(jsonb_agg({} ORDER BY k)::text)", self.document(1)),
            of("sum({})", self.number()) + of(" FILTER (WHERE {})", self.condition()),
        ]
        chosen = self.rng.sample(calls, self.rng.randint(1, 4))
        return f"SELECT {', '.join(chosen)} FROM TBL tbl{self.where()}"

    def groups(self) -> str:
        keys = [self.pick(self.text(), self.arrow("d", self.path(), "->>"), self.document(1),
                          self.safe_cast(), self.number(0), self.condition())
                for _ in range(self.pick(1, 1, 2))]  # fmt: skip
        shown = ", ".join(f'min(({key})::text COLLATE "C")' for key in keys)
        having = self.pick("", "", " HAVING count(*) > 2")
        self.outputs += keys
        more = self.pick(
            "",
            f", sum(length({self.out(self.text(0))}))",
            f", count({self.out(self.document(1))})",
        )
        return (
            f"SELECT {shown}, count(*), sum(k){more} FROM TBL tbl{self.where()}"
            f" GROUP BY {', '.join(keys)}{having}"
        )

    def first(self) -> str:
        keys = [self.pick(self.arrow("d", self.path(), "->>"), self.document(1), self.safe_cast(),
                          self.number(0), self.time(), self.text())
                for _ in range(self.pick(1, 1, 2))]  # fmt: skip
        shown = self.pick("d", self.outs(2), self.outs(2), f"{self.outs(1)}, d")
        self.outputs += keys
        order = ", ".join(key + self.pick("", " DESC", " NULLS FIRST") for key in keys)
        where = self.where()
        limit = self.pick(
            "", " LIMIT 10", " LIMIT 10", " LIMIT 100", " LIMIT 5 OFFSET 3"
        )
        self.limited = bool(limit)
        return f"SELECT k, {shown} FROM TBL tbl{where} ORDER BY {order}, k{limit}"

    def lateral(self) -> str:
        function, value = self.pick(self.rows_of(), self.record_of(), self.rows_of())
        if " AS f" not in function:
            function += " AS f"
        self.outputs.append(f"(SELECT count({value}) FROM {function})")
        more = self.pick("", f", {self.outs(1)}")
        join = self.pick(f", LATERAL {function}", f" LEFT JOIN LATERAL {function} ON true",
                         f" CROSS JOIN {function}", f" LEFT JOIN {function} ON f::text > 'b'")  # fmt: skip
        source = f"FROM TBL tbl{join}{self.where()}"
        if self.rng.random() < 0.35:
            return f"SELECT {value}, count(*), sum(k) {source} GROUP BY 1"
        return f"SELECT k, {value}{more} {source}"

    def selected_rows(self) -> str:
        function, _ = self.rows_of()
        self.outputs.append(f"(SELECT count(f::text) FROM {function} f)")
        more = self.pick("", f", {self.outs(1)}")
        source = f"(SELECT k, {function} AS f{more} FROM TBL tbl{self.where()}) q"
        return self.pick(
            f"SELECT f::text, count(*), sum(k) FROM {source} GROUP BY 1",
            f"SELECT k, f::text FROM {source}",
            f"SELECT * FROM {source}",
        )

    def exists(self) -> str:
        function, _ = self.rows_of()
        condition = f"{self.pick('', 'NOT ')}EXISTS (SELECT FROM {function} f WHERE f::text > '{self.pick('', 'a', '5')}')"
        self.conditions = [condition]
        return f"SELECT k, {self.outs(2)} FROM TBL tbl WHERE {condition}"

    def query(self) -> str:
        self.conditions, self.outputs, self.limited = [], [], False
        return self.rng.choice((
            self.plain, self.plain, self.plain, self.documents, self.aggregate, self.aggregate,
            self.groups, self.groups, self.first, self.first, self.lateral, self.lateral,
            self.selected_rows, self.exists,
        ))()  # fmt: skip
