"""JSON documents like the events of Bluesky's public stream, one a line.

Made by a generator, the same in every run, or taken from files of the public set.
Half of the made events are likes, one in a hundred has no commit; few users have most
of them; they cover a day in the order of their time.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from random import Random

SEED = 20250115
START = 1_736_899_200_000_000  # microseconds: 2025-01-15 UTC
DAY = 86_400_000_000
FLAT = 20  # users with about as many events as the first has
KEPT = 50_000  # posts that likes, reposts and replies speak of
DIGITS = "234567abcdefghijklmnopqrstuvwxyz"
PAIRS = [one + two for one in DIGITS for two in DIGITS]
FILES = ("*.json", "*.json.gz")
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in what json.dumps() writes

# Share of each kind of event; what is not a collection has no commit.
POST, LIKE, REPOST = (f"app.bsky.feed.{kind}" for kind in ("post", "like", "repost"))
FOLLOW, BLOCK = "app.bsky.graph.follow", "app.bsky.graph.block"
PROFILE, GATE = "app.bsky.actor.profile", "app.bsky.feed.threadgate"
SHARES = {
    LIKE: 50, POST: 19, FOLLOW: 15, REPOST: 10, BLOCK: 3, PROFILE: 1, GATE: 1,
    "identity": 0.5, "account": 0.5,
}  # fmt: skip
DELETED = 0.06
LANGS = ('["en"]',) * 12 + ('["ja"]',) * 4 + (
    '["pt"]', '["de"]', '["es"]', '["en","es"]', '["fr","en"]', "[]", "",
)  # fmt: skip


def _words(random: Random) -> list[str]:
    """Words of made-up text, some with characters that JSON escapes."""
    letters = "etaoinshrdlucmfwypvbgk"
    made = (random.choices(letters, k=random.randint(1, 10)) for _ in range(3000))
    return ["".join(word) for word in made] + ["今日は", "ça", "🦋", '"quoted"', "a\nb"]


def _key(time_us: int, clock: int) -> str:
    """A record key: 13 digits that grow with the time."""
    number = time_us << 10 | clock
    return DIGITS[number >> 60] + "".join(
        [PAIRS[number >> shift & 1023] for shift in (50, 40, 30, 20, 10, 0)]
    )


class _Maker:
    """What makes one event after the other."""

    def __init__(self, rows: int) -> None:
        self.random = Random(SEED)
        self.words = _words(self.random)
        self.users = [self._code(15) for _ in range(max(100, rows // 8))]
        self.posts: list[str] = []
        self.step = 2 * DAY / (rows + 1)

    def _code(self, size: int) -> str:
        return base64.b32encode(self.random.randbytes(size)).decode().lower()

    def _cid(self) -> str:
        return "bafyrei" + self._code(35)[:52]

    def _user(self) -> str:
        rank = FLAT * (len(self.users) / FLAT + 1) ** self.random.random() - FLAT
        return "did:plc:" + self.users[int(rank)]

    def _post(self, time_us: int) -> str:
        """What names a post: of the last ones, rather a recent one."""
        if self.posts:
            return self.posts[-1 - int(self.random.random() ** 3 * len(self.posts))]
        key = _key(time_us - DAY, 7)
        return f'{{"cid":"{self._cid()}","uri":"at://{self._user()}/{POST}/{key}"}}'

    def _text(self, most: int) -> str:
        """A string of JSON; short words come often."""
        random = self.random.random
        count = 1 + int(most * random())
        places = [int(random() ** 3 * len(self.words)) for _ in range(count)]
        return json.dumps(" ".join([self.words[n] for n in places]), ensure_ascii=False)

    def _image(self) -> str:
        size, link = self.random.randint(20_000, 990_000), self._code(35)[:52]
        kind = "jpeg" if size % 9 else "png"
        return (
            f'{{"alt":{self._text(8) if size % 3 == 0 else chr(34) * 2},'
            f'"aspectRatio":{{"height":{600 + size % 1400},"width":{800 + size % 1200}}},'
            f'"image":{{"$type":"blob","ref":{{"$link":"bafkrei{link}"}},'
            f'"mimeType":"image/{kind}","size":{size}}}}}'
        )

    def _embed(self) -> str:
        chance = self.random.random()
        if chance < 0.18:
            images = ",".join([self._image() for _ in range(1 + int(chance * 100) % 4)])
            embed = f'"app.bsky.embed.images","images":[{images}]'
        elif chance < 0.28:
            embed = (
                f'"app.bsky.embed.external","external":{{"description":{self._text(15)},'
                f'"title":{self._text(6)},"uri":"https://example.com/{self._code(10)}"}}'
            )
        else:
            return ""
        return f',"embed":{{"$type":{embed}}}'

    def _of_post(self, time_us: int) -> str:
        """What the record of a post has beside type and time."""
        langs = LANGS[int(self.random.random() * len(LANGS))]
        parts = [self._embed(), f',"langs":{langs}' if langs else ""]
        if self.random.random() < 0.35:
            parent = self._post(time_us)
            root = parent if self.random.random() < 0.6 else self._post(time_us)
            parts.append(f',"reply":{{"parent":{parent},"root":{root}}}')
        return "".join([*parts, f',"text":{self._text(24)}'])

    def _record(self, kind: str, time_us: int) -> str:
        if kind == POST:
            return self._of_post(time_us)
        if kind in (LIKE, REPOST):
            return f',"subject":{self._post(time_us)}'
        if kind in (FOLLOW, BLOCK):
            return f',"subject":"{self._user()}"'
        if kind == PROFILE:
            about, name = self._text(30), self._text(3)
            return f',"description":{about},"displayName":{name},"pinnedPost":null'
        return f',"allow":[],"post":"at://{self._user()}/{POST}/{_key(time_us, 3)}"'

    def _commit(self, kind: str, user: str, time_us: int) -> str:
        random = self.random.random
        made = time_us - int(random() * 3_000_000)
        clock = int(random() * 1024)
        rev, key = _key(time_us - 900_000, clock), _key(made, clock)
        if kind == PROFILE:
            key, operation = "self", "update"
        else:
            operation = "delete" if random() < DELETED else "create"
        start = f'"rev":"{rev}","operation":"{operation}","collection":"{kind}"'
        if operation == "delete":
            return f'{start},"rkey":"{key}"'
        time = f"{datetime.fromtimestamp(made // 1_000_000, UTC):%Y-%m-%dT%H:%M:%S}"
        cid = self._cid()
        record = (
            f'"$type":"{kind}","createdAt":"{time}.{made // 1000 % 1000:03}Z"'
            f"{self._record(kind, time_us)}"
        )
        if kind == POST:
            self.posts.append(f'{{"cid":"{cid}","uri":"at://{user}/{kind}/{key}"}}')
            if len(self.posts) > 2 * KEPT:
                del self.posts[:KEPT]
        return f'{start},"rkey":"{key}","record":{{{record}}},"cid":"{cid}"'

    def event(self, kind: str, time_us: int) -> str:
        """One document."""
        user = self._user()
        start = f'{{"did":"{user}","time_us":{time_us},"kind":'
        if "." in kind:
            return f'{start}"commit","commit":{{{self._commit(kind, user, time_us)}}}}}'
        time = f"{datetime.fromtimestamp(time_us // 1_000_000, UTC):%Y-%m-%dT%H:%M:%SZ}"
        more = '"active":true' if kind == "account" else '"handle":"a.example.com"'
        return (
            f'{start}"{kind}","{kind}":{{{more},"did":"{user}",'
            f'"seq":{time_us // 977},"time":"{time}"}}}}'
        )


def documents(rows: int) -> Iterator[str]:
    """That many made documents."""
    maker = _Maker(rows)
    random = maker.random
    time_us = float(START)
    while rows > 0:
        block = min(rows, 10_000)
        for kind in random.choices(list(SHARES), list(SHARES.values()), k=block):
            time_us += 1 + random.random() * maker.step
            yield maker.event(kind, int(time_us))
        rows -= block


def files(place: Path) -> list[Path]:
    """The file itself, or those of a directory, by name."""
    if place.is_file():
        return [place]
    return sorted(path for pattern in FILES for path in place.glob(pattern))


def storable(line: bytes) -> bool:
    """Does jsonb take the document? Not with the character 0 or half a surrogate."""
    try:
        if b"\\u" not in line:
            return bool(line.decode())
        text = json.dumps(json.loads(line), ensure_ascii=False)
        text.encode()
    except ValueError:
        return False
    return not NUL.search(text)


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from file


def of_files(place: Path, rows: int) -> Iterator[bytes]:
    """The first documents of the files that jsonb takes, without ends of lines."""
    found = chain.from_iterable(map(_lines, files(place)))
    some = (line.strip() for line in found)
    return islice((line for line in some if line and storable(line)), rows)


def write(path: Path, rows: int, place: Path | None = None) -> int:
    """Write the documents, made or of files; how many there are."""
    found = of_files(place, rows) if place else map(str.encode, documents(rows))
    number = 0
    with path.open("wb") as out:
        for line in found:
            out.write(line + b"\n")
            number += 1
    return number
