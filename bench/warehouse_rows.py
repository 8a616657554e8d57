"""The tables of the data set warehouse, and where their rows come from.

A retailer sells in shops, on the web and by phone, and counts its stock. Row g of a
table depends on g and the number of sales alone: every drawn value is a fixed hash of g
and a stream's number, so the rows are the same on every server version and machine.
Lines of sales come in the order of their days, four tenths of a year's in its last three
months. Items, customers and promotions are drawn with skew (the first ones most often);
a few per cent of foreign keys are NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.events import pick as word

FIRST_DAY = "date '2018-01-01'"
YEARS = 5  # of sales, from 2019 on
MONEY = "numeric(9,2)"
CHANNELS = {"shop": 0.5, "web": 0.3, "phone": 0.2}  # shares of the sales


@dataclass(frozen=True)
class Table:
    """A table and its rows.

    columns  (name, type, SQL of its value), in order
    key      columns of the primary key
    source   what the rows are made of: FROM clause, and conditions
    """

    columns: tuple[tuple[str, str, str], ...]
    key: str
    source: str

    @property
    def ddl(self) -> str:
        """Column definitions as CREATE TABLE wants them, in DuckDB too."""
        keys = self.key.split(", ")
        return ", ".join(
            f"{name} {kind}{' NOT NULL' if name in keys else ''}"
            for name, kind, _ in self.columns
        )

    @property
    def select(self) -> str:
        """The query that makes the rows."""
        values = ",\n  ".join(f"{sql} AS {name}" for name, _, sql in self.columns)
        return f"SELECT {values}\n{self.source}"


def uniform(stream: int, of: str = "g") -> str:
    """SQL of the uniform [0, 1) float8 of a number in a stream."""
    return (
        f"((hashint8extended({of}, {stream}) & 9007199254740991)::float8"
        " / 9007199254740992)"
    )


def drawn(stream: int, number: str | int, of: str = "g") -> str:
    """SQL of an integer 0 to `number` - 1, all alike."""
    return f"floor({number} * {uniform(stream, of)})::int"


def skewed(stream: int, number: str | int, of: str = "g") -> str:
    """SQL of an integer 0 to `number` - 1 by the square of a uniform: the first
    tenth of them takes a third of the draws."""
    one = uniform(stream, of)
    return f"floor({number} * {one} * {one})::int"


def some(stream: int, percent: float, value: str, of: str = "g") -> str:
    """SQL of a value that is NULL in that many per cent of the rows."""
    return f"CASE WHEN {uniform(stream, of)} >= {percent / 100} THEN {value} END"


def numbers(count: str | int, first: int = 1) -> str:
    """FROM clause of the rows `first` on."""
    last = f"{first} + {count} - 1"
    return f"FROM generate_series({first}::bigint, {last}) AS g"


def money(cents: str) -> str:
    """SQL of an amount given in cents."""
    return f"round(({cents})::numeric / 100, 2)"


NAMES = "Ada,Ben,Cleo,Dan,Eva,Finn,Gina,Hugo,Ines,Jon,Kira,Leo,Mia,Nils,Olga,Paul"
FAMILIES = "Abel,Brook,Carver,Dale,Ember,Frost,Grove,Hale,Irwin,Jarvis,Keel,Lund,Moss"
STREETS = "Mill,Church,Lake,Hill,Station,Garden,River,Market,Forest,Park,Bridge,North"
KINDS = "Street,Road,Lane,Avenue,Way,Court"
CITIES = (
    "Ashford,Birchwood,Cedar Falls,Dunmore,Eastbrook,Fairview,Glenside,Harbour,Ironton,"
    "Juniper,Kingsley,Lakeside,Midway,Newport,Oakland,Pinehurst,Quarry,Riverton,Salem,"
    "Thornhill,Union,Valley,Westfield,Yarrow"
)
REGIONS = "NA,NB,NC,ND,EA,EB,EC,SA,SB,SC,SD,WA,WB,WC"
COUNTRIES = "Norland,Sudland,Estland,Westland,Mittland"
DEPARTMENTS = "Books,Music,Home,Garden,Sports,Toys,Clothes,Shoes,Food,Electronics"
FAMILIES_OF_GOODS = "basic,classic,modern,deluxe"
COLOURS = (
    "red,blue,green,black,white,grey,amber,ivory,olive,plum,rose,salmon,sienna,teal,tan"
)
ADJECTIVES = "small,large,light,sturdy,bright,quiet,fast,soft,plain,fine,old,new"
NOUNS = "lamp,chair,radio,novel,ball,shirt,boot,kettle,spade,puzzle,drum,basket,clock"
EDUCATION = "primary,secondary,college,degree,higher degree,unknown"
MONTHS = (
    "January,February,March,April,May,June,July,August,September,October,November,"
    "December"
)
WEEKDAYS = "Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday"

DAY = f"({FIRST_DAY} + (g - 1)::int)"


def _days() -> Table:
    def part(name: str) -> str:
        return f"extract({name} FROM {DAY})::int"

    columns = (
        ("day_id", "int", "g"),
        ("day", "date", DAY),
        ("year", "int", part("year")),
        ("quarter", "int", part("quarter")),
        ("month", "int", part("month")),
        ("month_no", "int", f"({part('year')} - 2018) * 12 + {part('month')}"),
        ("week_no", "int", "(g + 6) / 7"),
        ("day_of_month", "int", part("day")),
        ("weekday", "int", part("dow")),
        ("weekday_name", "text", word(WEEKDAYS, part("dow"))),
        ("month_name", "text", word(MONTHS, f"{part('month')} - 1")),
        ("quarter_name", "text", f"{part('year')} || 'Q' || {part('quarter')}"),
        ("holiday", "text", f"CASE WHEN {uniform(11)} < 0.04 THEN 'Y' ELSE 'N' END"),
        ("weekend", "text", f"CASE WHEN {part('isodow')} > 5 THEN 'Y' ELSE 'N' END"),
    )
    return Table(columns, "day_id", numbers(8 * 365 + 2))


def _small() -> Iterator[tuple[str, Table]]:
    """Tables whose sizes do not depend on the sales."""
    hour = "(g / 60)"
    part = (
        f"CASE WHEN {hour} < 6 THEN 'night' WHEN {hour} < 12 THEN 'morning'"
        f" WHEN {hour} < 18 THEN 'afternoon' ELSE 'evening' END"
    )
    meal = (
        f"CASE WHEN {hour} BETWEEN 6 AND 8 THEN 'breakfast' WHEN {hour} BETWEEN 12 AND"
        f" 13 THEN 'lunch' WHEN {hour} BETWEEN 18 AND 20 THEN 'dinner' END"
    )
    moments = (
        ("moment_id", "int", "g"),
        ("hour", "int", hour),
        ("minute", "int", "g % 60"),
        ("part_of_day", "text", part),
        ("meal", "text", meal),
        ("shift", "text", f"'shift ' || {hour} / 8 + 1"),
    )
    yield "moments", Table(moments, "moment_id", numbers(1440, 0))
    categories = (
        ("category_id", "int", "g"),
        ("department", "text", word(DEPARTMENTS, "(g - 1) / 4")),
        (
            "category",
            "text",
            f"{word(FAMILIES_OF_GOODS, '(g - 1) % 4')} || ' ' ||"
            f" lower({word(DEPARTMENTS, '(g - 1) / 4')})",
        ),
        (
            "buyer",
            "text",
            f"{word(NAMES, 'g % 16')} || ' ' || {word(FAMILIES, 'g % 13')}",
        ),
    )
    yield "categories", Table(categories, "category_id", numbers(40))
    suppliers = (
        ("supplier_id", "int", "g"),
        ("supplier", "text", f"{word(FAMILIES, 'g % 13')} || ' Supplies ' || g"),
        ("country", "text", word(COUNTRIES, skewed(21, 5))),
        ("rating", "int", f"1 + {drawn(22, 5)}"),
    )
    yield "suppliers", Table(suppliers, "supplier_id", numbers(200))
    bands = (
        ("band_id", "int", "g"),
        ("low", "int", "(g - 1) * 10000"),
        ("high", "int", "g * 10000 - 1"),
    )
    yield "income_bands", Table(bands, "band_id", numbers(20))
    households = (
        ("household_id", "int", "g"),
        ("band_id", "int", some(31, 2, "g % 20 + 1")),
        ("spending", "text", word("low,medium,high,very high", "g / 20 % 4")),
        ("children", "int", "g / 80 % 6"),
        ("vehicles", "int", "g / 480 % 4"),
    )
    yield "households", Table(households, "household_id", numbers(1920))
    people = (
        ("person_id", "int", "g"),
        ("gender", "text", word("F,M", "g % 2")),
        ("marital", "text", word("single,married,divorced,widowed", "g / 2 % 4")),
        ("education", "text", word(EDUCATION, "g / 8 % 6")),
        ("credit", "text", word("good,fair,poor", "g / 48 % 3")),
        ("children", "int", "g / 144 % 5"),
        ("yearly_spending", "int", "500 * (1 + g / 720 % 10)"),
    )
    yield "people", Table(people, "person_id", numbers(7200))
    shops = (
        ("shop_id", "int", "g"),
        ("shop", "text", f"{word(CITIES, 'g % 24')} || ' ' || g"),
        ("city", "text", word(CITIES, "g % 24")),
        ("region", "text", word(REGIONS, "g % 14")),
        ("country", "text", word(COUNTRIES, "g % 14 % 5")),
        ("employees", "int", f"5 + {skewed(41, 300)}"),
        ("floor_space", "int", f"200 + {drawn(42, 9000)}"),
        ("opened", "date", f"date '1990-01-01' + {drawn(43, 9000)}"),
        ("closed", "date", some(44, 90, f"date '2022-01-01' + {drawn(45, 700)}")),
        (
            "manager",
            "text",
            f"{word(NAMES, 'g % 16')} || ' ' || {word(FAMILIES, 'g % 13')}",
        ),
    )
    yield "shops", Table(shops, "shop_id", numbers(60))
    depots = (
        ("depot_id", "int", "g"),
        ("depot", "text", f"'Depot ' || {word(CITIES, 'g * 5 % 24')}"),
        ("region", "text", word(REGIONS, "g * 3 % 14")),
        ("floor_space", "int", some(46, 10, f"5000 + {drawn(47, 90000)}")),
    )
    yield "depots", Table(depots, "depot_id", numbers(10))
    centres = (
        ("centre_id", "int", "g"),
        ("centre", "text", f"'Call centre ' || {word(CITIES, 'g * 7 % 24')}"),
        ("region", "text", word(REGIONS, "g * 5 % 14")),
        (
            "manager",
            "text",
            f"{word(NAMES, 'g % 16')} || ' ' || {word(FAMILIES, 'g % 13')}",
        ),
        ("hours", "text", word("8-16,8-20,0-24", "g % 3")),
    )
    yield "call_centres", Table(centres, "centre_id", numbers(12))
    sites = (
        ("site_id", "int", "g"),
        ("site", "text", "'site_' || g"),
        ("company", "text", word("able,bravo,cargo,delta,eager,fable", "g % 6")),
        ("opened", "date", f"date '2010-01-01' + {drawn(51, 3000)}"),
    )
    yield "sites", Table(sites, "site_id", numbers(24))
    pages = (
        ("page_id", "int", "g"),
        ("url", "text", f"'/' || lower({word(DEPARTMENTS, 'g % 10')}) || '/' || g"),
        ("kind", "text", word("item,list,advert,home,search", "g % 5")),
        ("characters", "int", f"100 + {skewed(52, 9000)}"),
        ("links", "int", some(53, 5, f"2 + {drawn(54, 24)}")),
    )
    yield "pages", Table(pages, "page_id", numbers(200))
    promotions = (
        ("promotion_id", "int", "g"),
        ("promotion", "text", f"{word(ADJECTIVES, 'g % 12')} || ' offer ' || g"),
        ("email", "text", f"CASE WHEN {uniform(55)} < 0.5 THEN 'Y' ELSE 'N' END"),
        ("television", "text", f"CASE WHEN {uniform(56)} < 0.1 THEN 'Y' ELSE 'N' END"),
        ("leaflet", "text", some(57, 5, word("Y,N", "g % 2"))),
        ("cost", MONEY, money(f"10000 + {skewed(58, 900000)}")),
        ("first_day_id", "int", f"366 + {drawn(59, 1700)}"),
    )
    yield "promotions", Table(promotions, "promotion_id", numbers(300))
    reasons = (
        ("reason_id", "int", "g"),
        (
            "reason",
            "text",
            f"{word('too small,too large,broken,late,wrong item,not wanted,dear', 'g % 7')}"
            f" || ', ' || {word('first,again,gift,advised,unopened', 'g / 7 % 5')}",
        ),
    )
    yield "reasons", Table(reasons, "reason_id", numbers(35))
    carriers = (
        ("carrier_id", "int", "g"),
        ("carrier", "text", word("Arrow,Bolt,Comet,Dash,Eagle", "g % 5")),
        ("speed", "text", word("overnight,two days,regular,library", "g / 5 % 4")),
    )
    yield "carriers", Table(carriers, "carrier_id", numbers(20))


@dataclass(frozen=True)
class Size:
    """Rows of the tables that grow with the lines of sales."""

    sales: int

    @property
    def items(self) -> int:
        """Kinds of goods."""
        return min(100_000, max(500, self.sales // 100))

    @property
    def customers(self) -> int:
        """Customers, known by name."""
        return max(500, self.sales // 20)

    @property
    def addresses(self) -> int:
        """Addresses of customers and recipients."""
        return max(250, self.sales // 40)


def list_cents(item: str) -> str:
    """SQL of an item's list price in cents."""
    one = uniform(61, item)
    return f"(150 + floor(30000 * {one} * {one} * {one}))"


def _goods_and_customers(size: Size) -> Iterator[tuple[str, Table]]:
    name = f"{word(ADJECTIVES, 'g / 13 % 12')} || ' ' || {word(NOUNS, 'g % 13')}"
    items = (
        ("item_id", "int", "g"),
        ("code", "text", "'I' || lpad(g::text, 8, '0')"),
        ("item", "text", f"{name} || ' ' || g"),
        (
            "description",
            "text",
            some(62, 2, f"'A ' || {name} || ', ' || {word(COLOURS, drawn(63, 15))}"
            f" || ' or ' || {word(COLOURS, drawn(64, 15))} || ', no. ' || g"),
        ),
        ("category_id", "int", some(65, 1, f"1 + {skewed(66, 40)}")),
        ("brand", "text", some(67, 2, f"'brand ' || 1 + {skewed(68, 120)}")),
        ("colour", "text", word(COLOURS, drawn(69, 15))),
        ("size", "text", word("XS,S,M,L,XL,one size", drawn(70, 6))),
        ("unit", "text", word("each,pair,box,dozen,kilo", drawn(71, 5))),
        ("list_price", MONEY, money(list_cents("g"))),
        ("cost", MONEY, money(f"floor({list_cents('g')} * (0.3 + 0.4 * {uniform(72)}))")),
        ("supplier_id", "int", some(73, 3, f"1 + {drawn(74, 200)}")),
        ("manager_no", "int", f"1 + {drawn(75, 100)}"),
    )  # fmt: skip
    yield "items", Table(items, "item_id", numbers(size.items))
    region = drawn(83, 14)
    addresses = (
        ("address_id", "int", "g"),
        ("street_no", "int", f"1 + {drawn(81, 999)}"),
        (
            "street",
            "text",
            f"{word(STREETS, drawn(82, 12))} || ' ' || {word(KINDS, 'g % 6')}",
        ),
        ("city", "text", some(84, 1, word(CITIES, skewed(85, 24)))),
        ("region", "text", word(REGIONS, region)),
        ("country", "text", word(COUNTRIES, f"{region} % 5")),
        ("postcode", "text", f"lpad({drawn(86, 100000)}::text, 5, '0')"),
        ("utc_offset", "numeric(4,1)", some(87, 2, f"{region} % 4 - 8")),
        ("kind", "text", word("house,flat,farm", skewed(88, 3))),
    )
    yield "addresses", Table(addresses, "address_id", numbers(size.addresses))
    customers = (
        ("customer_id", "int", "g"),
        ("code", "text", "'C' || lpad(g::text, 10, '0')"),
        ("title", "text", some(91, 6, word("Mr,Ms,Dr", skewed(92, 3)))),
        ("first_name", "text", some(93, 3, word(NAMES, skewed(94, 16)))),
        ("last_name", "text", some(95, 3, word(FAMILIES, drawn(96, 13)))),
        ("birth_year", "int", some(97, 3, f"1935 + {drawn(98, 70)}")),
        ("birth_month", "int", f"1 + {drawn(99, 12)}"),
        ("email", "text", some(100, 4, "'c' || g || '@mail.example'")),
        ("address_id", "int", some(101, 2, f"1 + {drawn(102, size.addresses)}")),
        ("person_id", "int", some(103, 3, f"1 + {drawn(104, 7200)}")),
        ("household_id", "int", some(105, 3, f"1 + {drawn(106, 1920)}")),
        ("first_day_id", "int", f"1 + {drawn(107, 2000)}"),
        ("preferred", "text", some(108, 3, word("Y,N", drawn(109, 2)))),
    )
    yield "customers", Table(customers, "customer_id", numbers(size.customers))


# 16 lines of sales are five tickets, of 3, 1, 6, 2 and 4 lines.
TICKETS = "0,0,0,1,2,2,2,2,2,2,3,3,4,4,4,4"
LINES = "1,2,3,1,1,2,3,4,5,6,1,2,1,2,3,4"


def _lines(channel: str, rows: int, stream: int, size: Size) -> str:
    """FROM clause of a channel's lines: their tickets, days, items and prices."""
    tickets = max(1, rows * 5 // 16 + 5)
    days = "CASE WHEN f < 0.6 THEN f / 0.6 * 273 ELSE 273 + (f - 0.6) / 0.4 * 92 END"
    quantity = f"1 + {skewed(stream + 2, 12 if channel == 'shop' else 40)}"
    return f"""FROM (
  SELECT g, t, line, e, item, quantity,
    {list_cents("item")} AS listed,
    0.5 + 0.5 * {uniform(stream + 3)} AS part,
    0.35 + 0.4 * {uniform(72, "item")} AS cost_part
  FROM (
    SELECT g, t, line,
      (make_date(2019 + y, 1, 1) - {FIRST_DAY}) + 1 + floor({days})::int AS e,
      1 + {skewed(stream + 1, size.items)} AS item,
      {quantity} AS quantity
    FROM (
      SELECT g, t, line, floor(p)::int AS y, p - floor(p) AS f
      FROM (
        SELECT g, g / 16 * 5 + ('{{{TICKETS}}}'::int[])[g % 16 + 1] + 1 AS t,
          ('{{{LINES}}}'::int[])[g % 16 + 1] AS line,
          {YEARS}.0::float8 * (g / 16 * 5) / {tickets} AS p
        {numbers(rows, 0)}
      ) AS a
    ) AS b
  ) AS c
) AS d"""


def _sales(channel: str, rows: int, stream: int, size: Size) -> Table:
    minute = (
        f"480 + floor(390 * ({uniform(stream + 4, 't')} + {uniform(stream + 5, 't')}))"
        if channel == "shop"
        else drawn(stream + 4, 1440, "t")
    )
    customers = skewed(stream + 7, size.customers, "t")
    price = "floor(listed * part)"
    paid = f"{price} * quantity - {_discount(stream, price)}"

    def of_ticket(name: str, at: int, percent: float, value: str) -> tuple:
        return (name, "int", some(stream + at, percent, value, "t"))

    columns = [
        ("ticket_id", "int", "t"),
        ("line_no", "int", "line"),
        of_ticket("day_id", 10, 1, "e"),
        of_ticket("moment_id", 11, 2, minute),
        of_ticket("customer_id", 12, 6 if channel == "shop" else 1, f"1 + {customers}"),
        of_ticket("person_id", 13, 3, f"1 + {drawn(stream + 14, 7200, 't')}"),
        of_ticket("household_id", 15, 3, f"1 + {drawn(stream + 16, 1920, 't')}"),
        of_ticket(
            "address_id", 17, 2, f"1 + {drawn(stream + 18, size.addresses, 't')}"
        ),
        ("item_id", "int", "item"),
        (
            "promotion_id",
            "int",
            some(stream + 19, 50, f"1 + {skewed(stream + 20, 300)}"),
        ),
    ]
    if channel == "shop":
        columns += [of_ticket("shop_id", 21, 2, f"1 + {skewed(stream + 22, 60, 't')}")]
    else:
        recipients = (
            f"CASE WHEN {uniform(stream + 23, 't')} < 0.8 THEN 1 + {customers}"
            f" ELSE 1 + {drawn(stream + 24, size.customers, 't')} END"
        )
        columns += [
            ("sent_day_id", "int", some(stream + 25, 3, f"e + {skewed(stream + 26, 130)}")),
            of_ticket("recipient_id", 27, 2, recipients),
            ("depot_id", "int", some(stream + 28, 1, f"1 + {skewed(stream + 29, 10)}")),
            ("carrier_id", "int", some(stream + 30, 1, f"1 + {drawn(stream + 31, 20)}")),
            ("freight", MONEY, money(f"floor({price} * 0.1 * quantity * part)")),
        ]  # fmt: skip
    if channel == "web":
        columns += [
            of_ticket("site_id", 32, 1, f"1 + {skewed(stream + 33, 24, 't')}"),
            ("page_id", "int", some(stream + 34, 2, f"1 + {skewed(stream + 35, 200)}")),
        ]
    if channel == "phone":
        columns += [of_ticket("centre_id", 32, 1, f"1 + {drawn(stream + 33, 12, 't')}")]
    columns += [
        ("quantity", "int", some(stream + 40, 2, "quantity")),
        ("cost", MONEY, money("floor(listed * cost_part)")),
        ("list_price", MONEY, money("listed")),
        ("price", MONEY, money(price)),
        ("discount", MONEY, money(_discount(stream, price))),
        ("paid", MONEY, some(stream + 41, 1, money(paid))),
        ("tax", MONEY, money(f"floor(({paid}) * 0.07)")),
        ("profit", MONEY, money(f"{paid} - floor(listed * cost_part) * quantity")),
    ]
    lines = _lines(channel, rows, stream, size)
    return Table(tuple(columns), "ticket_id, line_no", lines)


def _discount(stream: int, price: str) -> str:
    return (
        f"CASE WHEN {uniform(stream + 6)} < 0.25 THEN"
        f" floor({price} * quantity * 0.3 * {uniform(stream + 8)}) ELSE 0 END"
    )


def _returns(channel: str, stream: int, size: Size) -> Table:
    """Lines of sales that came back, one in twelve."""
    line = "(ticket_id::bigint * 8 + line_no)"

    def own(at: int, percent: float, value: str) -> str:
        return some(stream + at, percent, value, line)

    pieces = f"1 + {drawn(stream + 3, 'quantity', line)}"
    cents = f"floor(price * 100)::bigint * ({pieces})"
    columns = [
        ("ticket_id", "int", "ticket_id"),
        ("line_no", "int", "line_no"),
        ("day_id", "int", own(4, 2, f"day_id + 1 + {skewed(stream + 5, 60, line)}")),
        (
            "customer_id",
            "int",
            f"CASE WHEN {uniform(stream + 6, line)} < 0.9 THEN customer_id"
            f" ELSE 1 + {drawn(stream + 7, size.customers, line)} END",
        ),
        ("item_id", "int", "item_id"),
        ("reason_id", "int", own(8, 3, f"1 + {skewed(stream + 9, 35, line)}")),
        ("address_id", "int", own(10, 3, "address_id")),
    ]
    extra = {"shop": "shop_id", "web": "page_id", "phone": "centre_id"}[channel]
    columns += [
        (extra, "int", own(11, 2, extra)),
        ("quantity", "int", pieces),
        ("amount", MONEY, money(cents)),
        ("fee", MONEY, money(f"100 + {drawn(stream + 12, 900, line)}")),
        ("refund", MONEY, own(13, 2, money(f"floor({cents} * 0.9)"))),
        ("credit", MONEY, money(f"({cents}) - floor({cents} * 0.9)")),
        ("loss", MONEY, money(f"floor({cents} * 0.3) + 250")),
    ]
    source = (
        f"FROM {channel}_sales WHERE {uniform(stream + 1, line)} < 0.085"
        " AND quantity IS NOT NULL"
    )
    return Table(tuple(columns), "ticket_id, line_no", source)


def _stock(size: Size) -> Table:
    """Counts on the first day of each month of 2022 and 2023, of each item in four
    of the depots."""
    depot = f"({drawn(901, 10, 'i')} + k * 3) % 10 + 1"
    number = "(i * 100000 + m * 10 + k)"
    usual = f"(20 + {skewed(904, 800, '(i * 10 + k)')})"
    columns = (
        ("day_id", "int", f"make_date(2022 + m / 12, m % 12 + 1, 1) - {FIRST_DAY} + 1"),
        ("item_id", "int", "i"),
        ("depot_id", "int", depot),
        (
            "quantity",
            "int",
            some(902, 3, f"floor({usual} * 2 * {uniform(903, number)})::int", number),
        ),
    )
    source = (
        "FROM generate_series(0, 23) AS m,"
        f" generate_series(1::bigint, {size.items}) AS i, generate_series(0, 3) AS k"
        " ORDER BY m, i, k"
    )
    return Table(columns, "day_id, item_id, depot_id", source)


def tables(sales: int) -> dict[str, Table]:
    """All tables, for that many lines of sales; a table's rows are made of those of
    tables before it."""
    size = Size(sales)
    found = {"days": _days()}
    found |= dict(_small())
    found |= dict(_goods_and_customers(size))
    for number, (channel, share) in enumerate(CHANNELS.items(), 2):
        rows = max(1, round(sales * share))
        found[f"{channel}_sales"] = _sales(channel, rows, number * 100, size)
    for number, channel in enumerate(CHANNELS, 5):
        found[f"{channel}_returns"] = _returns(channel, number * 100, size)
    found["stock"] = _stock(size)
    return found
