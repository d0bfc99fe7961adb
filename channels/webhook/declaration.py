"""A source as its operator declares it, and its checking: all that is wrong, by its field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from channels.webhook.presets import PRESETS, Preset
from channels.webhook.schemes import WHSEC, Lock, SchemeName, standard_key
from channels.webhook.signatures import Algorithm, Encoding
from channels.webhook.templates import (
    BadTemplate,
    Template,
    compile_condition,
    compile_template,
    compile_value,
)

OnRepeat = Literal["resume", "wait", "supersede"]

_TIME, _BODY = "{timestamp}", "{body}"


class BadSource(ValueError):
    """The operator must act; `field` names what is wrong."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What the operator wrote; what is empty, the preset says."""

    name: str
    secrets: tuple[bytes, ...]
    agent: str = ""
    scheme: SchemeName | None = None
    preset: str = ""
    message: str = ""
    thread_key: str = ""
    when: str = ""
    requester: str = ""
    audience: tuple[str, ...] = ()
    callback_url: str = ""
    on_repeat: OnRepeat = "resume"
    event_key: str = ""
    event_value: str = ""
    header: str = ""
    prefix: str = ""
    algorithm: Algorithm = "sha256"
    encoding: Encoding = "hex"
    timestamp: str = ""
    signed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source that can be used."""

    name: str
    lock: Lock
    agent: Template
    message: Template
    thread_key: Template
    when: Template | None
    requester: Template
    audience: tuple[Template, ...]
    watchers: tuple[str, ...]
    """Addresses that hear of the threads that begin here: the operator's words, no template."""
    on_repeat: OnRepeat
    event_key: Template
    """Where it makes something, a delivery is an event for who waits for that key."""
    event_value: Template | None
    """What they get, as JSON; without it, the payload."""


def make_source(declared: Declaration) -> Source:
    """Check a declaration, or raise a group of BadSource with all that is wrong."""
    problems: list[BadSource] = []
    preset = PRESETS.get(declared.preset)
    if declared.preset and preset is None:
        names = ", ".join(PRESETS)
        problems.append(BadSource("preset", f"there is no {declared.preset!r}, only: {names}"))
    texts = {field: _text(declared, preset, field) for field in ("message", "thread_key", "when")}
    if not texts["message"] and not declared.event_key and not problems:
        problems.append(BadSource("message", "it is missing, and no preset is named"))
    if declared.event_value and not declared.event_key:
        problems.append(BadSource("event_value", "it goes with event_key"))
    scheme = declared.scheme or (preset.scheme if preset else None)
    if scheme is None and not problems:
        problems.append(BadSource("scheme", "it is missing, and no preset is named"))
    made = _Compiling(problems)
    source = Source(
        name=declared.name,
        lock=_lock(declared, scheme or "bearer"),
        agent=made.template("agent", declared.agent),
        message=made.template("message", texts["message"]),
        thread_key=made.template("thread_key", texts["thread_key"]),
        when=made.condition("when", texts["when"]) if texts["when"] else None,
        requester=made.template("requester", declared.requester),
        audience=tuple(made.template("audience", one) for one in declared.audience),
        watchers=(f"callback:{declared.callback_url}",) if declared.callback_url else (),
        on_repeat=declared.on_repeat,
        event_key=made.template("event_key", declared.event_key),
        event_value=made.value("event_value", declared.event_value),
    )
    problems += _lock_problems(declared, source.lock)
    if problems:
        raise ExceptionGroup(f"hooks.{declared.name}", problems)
    return source


class _Compiling:
    """Compiles what can be, and notes what can't."""

    def __init__(self, problems: list[BadSource]) -> None:
        self._problems = problems

    def template(self, field: str, source: str) -> Template:
        try:
            return compile_template(source)
        except BadTemplate as exc:
            return self._bad(field, exc)

    def condition(self, field: str, source: str) -> Template:
        try:
            return compile_condition(source)
        except BadTemplate as exc:
            return self._bad(field, exc)

    def value(self, field: str, source: str) -> Template | None:
        try:
            return compile_value(source) if source else None
        except BadTemplate as exc:
            return self._bad(field, exc)

    def _bad(self, field: str, exc: BadTemplate) -> Template:
        self._problems.append(BadSource(field, str(exc)))
        return Template("", None)


def _text(declared: Declaration, preset: Preset | None, field: str) -> str:
    own = getattr(declared, field)
    return str(own or (getattr(preset, field) if preset else ""))


def _lock(declared: Declaration, scheme: SchemeName) -> Lock:
    usual = f"{_TIME}.{_BODY}" if declared.timestamp else _BODY
    return Lock(
        scheme=scheme,
        secrets=declared.secrets,
        header=declared.header.lower(),
        prefix=declared.prefix,
        algorithm=declared.algorithm,
        encoding=declared.encoding,
        timestamp=declared.timestamp.lower(),
        signed=declared.signed or usual,
    )


def _lock_problems(declared: Declaration, lock: Lock) -> Iterator[BadSource]:
    is_own = lock.scheme == "hmac"
    if is_own and not lock.header:
        yield BadSource("header", "scheme hmac needs the name of the signature's header")
    for field in ("header", "prefix", "timestamp", "signed"):
        if getattr(declared, field) and not is_own:
            yield BadSource(field, f"it is for the scheme hmac, not for {lock.scheme}")
    if lock.signed.count(_BODY) != 1:
        yield BadSource("signed", f"it must hold {_BODY} once")
    if (_TIME in lock.signed) != bool(lock.timestamp):
        yield BadSource("signed", f"{_TIME} and the field timestamp belong together")
    yield from _secret_problems(lock)


def _secret_problems(lock: Lock) -> Iterator[BadSource]:
    for secret in lock.secrets:
        if lock.scheme == "standard" or (lock.scheme == "gitlab" and secret.startswith(WHSEC)):
            try:
                standard_key(secret)
            except ValueError as exc:
                yield BadSource("secret_env", f"a secret can't be used: {exc}")
        if lock.scheme == "basic" and b":" not in secret:
            yield BadSource("secret_env", "for basic, a secret is NAME:PASSWORD")
