"""A forger: has seen good deliveries, knows no secret, and sends whatever might pass for one."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from channels.webhook.schemes import SchemeName
from tests.unit.channels.webhook.sender import ALL, NOW, SIGNED, code, sign

TIMED: frozenset[SchemeName] = frozenset({"standard", "gitlab", "buildkite", "hmac"})


@dataclass(frozen=True)
class Forgery:
    """A request that must not be taken."""

    how: str
    scheme: SchemeName
    body: bytes
    headers: dict[str, str]


Change: TypeAlias = Callable[[Random, "Forgery"], "Forgery"]


def good(chance: Random, scheme: SchemeName) -> Forgery:
    """Make a delivery that would be taken."""
    payload = {"text": f"deploy {chance.randrange(10**9)}", "ünï": chance.random(), "list": [1, 2]}
    body = json.dumps(payload, ensure_ascii=bool(chance.getrandbits(1))).encode()
    return Forgery("good", scheme, body, sign(scheme, body))


def forgery(chance: Random) -> Forgery:
    """Spoil a good delivery in one of many ways."""
    while True:
        how = chance.choice(sorted(_CHANGES))
        schemes, change = _CHANGES[how]
        before = good(chance, chance.choice(sorted(schemes)))
        after = change(chance, before)
        if (after.body, after.headers) != (before.body, before.headers):
            return replace(after, how=how)


def _with(one: Forgery, **headers: str) -> Forgery:
    return replace(one, headers={**one.headers, **headers})


def _proofs(one: Forgery) -> list[str]:
    """Name the headers that hold a proof."""
    return [name for name in one.headers if name != "x-github-delivery"]


def _spoilt(chance: Random, one: Forgery, change: Callable[[str], str]) -> Forgery:
    name = chance.choice(_proofs(one))
    return _with(one, **{name: change(one.headers[name])})


def _flip(chance: Random, one: Forgery) -> Forgery:
    at, bit = chance.randrange(len(one.body)), 1 << chance.randrange(8)
    changed = bytearray(one.body)
    changed[at] ^= bit
    return replace(one, body=bytes(changed))


def _truncate(chance: Random, one: Forgery) -> Forgery:
    return replace(one, body=one.body[: chance.randrange(len(one.body))])


def _lengthen(chance: Random, one: Forgery) -> Forgery:
    return replace(one, body=one.body + chance.choice([b" ", b"\n", b"\x00", b"{}", one.body]))


def _reencode(chance: Random, one: Forgery) -> Forgery:
    """Write the same JSON in another way."""
    value = json.loads(one.body)
    swapped = dict(reversed(list(value.items())))
    ways = [
        json.dumps(value, indent=chance.randrange(1, 4)).encode(),
        json.dumps(value, separators=(",", ":")).encode(),
        json.dumps(swapped).encode(),
        json.dumps(value, ensure_ascii=False).encode("utf-16"),
        b"\xef\xbb\xbf" + one.body,
        one.body.replace(b"deploy", b"\\u0064eploy"),
    ]
    return replace(one, body=chance.choice(ways))


def _compress(_chance: Random, one: Forgery) -> Forgery:
    """Say so or not: what was signed are other bytes."""
    return replace(one, body=gzip.compress(one.body))


def _encoded(_chance: Random, one: Forgery) -> Forgery:
    return _with(replace(one, body=gzip.compress(one.body)), **{"content-encoding": "gzip"})


def _swap(chance: Random, one: Forgery) -> Forgery:
    """Put the proof of one delivery on another."""
    return replace(one, headers=good(chance, one.scheme).headers)


def _mix(chance: Random, one: Forgery) -> Forgery:
    """Take a part of another delivery's proof."""
    other = good(chance, one.scheme).headers
    name = chance.choice(_proofs(one))
    return _with(one, **{name: other[name]})


def _turn(chance: Random, one: Forgery) -> Forgery:
    """Put the parts of a proof in another order."""
    names = _proofs(one)
    values = [one.headers[name] for name in names]
    if len(values) > 1:
        return _with(one, **dict(zip(names, values[1:] + values[:1], strict=True)))
    text = list(values[0])
    chance.shuffle(text)
    return _with(one, **{names[0]: "".join(text).strip() or "x"})


def _stale(chance: Random, one: Forgery) -> Forgery:
    off = chance.choice([-1, 1]) * chance.choice([301, 3600, 86_400, 10**9])
    return replace(one, headers=sign(one.scheme, one.body, NOW + off))


def _retime(chance: Random, one: Forgery) -> Forgery:
    """Make an old signature look new, or write the time in another way."""
    old, new = str(NOW), chance.choice([str(NOW + 1), f"0{NOW}", f"+{NOW}", f"{NOW}.0", "", "now"])
    return replace(one, headers={k: v.replace(old, new) for k, v in one.headers.items()})


def _drop(chance: Random, one: Forgery) -> Forgery:
    name = chance.choice(_proofs(one))
    return replace(one, headers={k: v for k, v in one.headers.items() if k != name})


def _garbage(chance: Random, one: Forgery) -> Forgery:
    raw = chance.randbytes(chance.randrange(1, 64))
    ways = [raw.hex(), b64encode(raw).decode(), "v1," + "A" * 43 + "=", "sha256=" + "0" * 64]
    ways += ["é" * 5, "=" * 9, "," * 9, "Bearer ", "Basic Og==", "v1=", "timestamp=,signature="]
    return _spoilt(chance, one, lambda _: chance.choice(ways))


def _respell(chance: Random, one: Forgery) -> Forgery:
    """Write a signature in another way that decodes to the same."""

    def respelt(text: str) -> str:
        ways = [text.upper(), text.rstrip("="), text.replace("+", "-").replace("/", "_")]
        ways += [f"{text}=", text[:-1], f"{text}0", text.swapcase(), text.replace("=", "=0x", 1)]
        return chance.choice([way for way in ways if way != text])

    return _spoilt(chance, one, respelt)


def _other_scheme(chance: Random, one: Forgery) -> Forgery:
    others = [scheme for scheme in ALL if scheme != one.scheme]
    strangers = {"standard": "gitlab", "gitlab": "standard"}  # the same proof, and the same secret
    scheme = chance.choice([other for other in others if other != strangers.get(one.scheme)])
    return replace(one, headers=sign(scheme, one.body))


def _unkeyed(chance: Random, one: Forgery) -> Forgery:
    """Sign with a secret that a careless receiver might have."""
    secret = chance.choice([b"", b"secret", b"None", b"whsec_", b"0" * 32])
    given = {"github": "x-hub-signature-256", "circleci": "circleci-signature"}
    marks = {"github": "sha256=", "circleci": "v1="}
    return _with(one, **{given[one.scheme]: marks[one.scheme] + code(one.body, secret)})


_BODIES = frozenset(SIGNED)
_EVERY = frozenset(ALL)

_CHANGES: dict[str, tuple[frozenset[SchemeName], Change]] = {
    "a bit of the body": (_BODIES, _flip),
    "truncated": (_BODIES, _truncate),
    "lengthened": (_BODIES, _lengthen),
    "re-encoded": (_BODIES, _reencode),
    "compressed": (_BODIES, _compress),
    "content-encoding": (_EVERY, _encoded),
    "another's proof": (_BODIES, _swap),
    "half of another's proof": (_BODIES - {"github"}, _mix),
    "re-ordered": (_EVERY, _turn),
    "stale": (TIMED, _stale),
    "another time": (TIMED, _retime),
    "a header less": (_EVERY, _drop),
    "garbage": (_EVERY, _garbage),
    "spelt in another way": (_EVERY, _respell),
    "another scheme": (_EVERY, _other_scheme),
    "another secret": (frozenset({"github", "circleci"}), _unkeyed),
}
