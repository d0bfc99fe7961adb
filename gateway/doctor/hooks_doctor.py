"""Hooks under the doctor's eyes: are they whole, are their secrets good, can a sender come?"""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from channels.webhook.declaration import Source
from gateway.settings.config import load_config
from gateway.settings.environment import Settings, SettingsError
from gateway.settings.hooks import make_sources

_LEAST_SECRET = 16
_LEAST_SIGNS = 6
_SECONDS = 3.0
_NEW_SECRET = "take what `openssl rand -hex 32` prints, here and where the sender is set up"  # noqa: S105 (words)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    status: Literal["ok", "warn", "fail"]
    told: str
    todo: str = ""


def examine_hooks(
    settings: Settings, agents: Sequence[str], *, is_running: bool
) -> Iterator[Finding]:
    """Look at what parley.toml declares; `is_running`: a server of ours listens here."""
    try:
        hooks = load_config(settings.config).hooks
        sources = make_sources(hooks, agents, os.environ)
    except SettingsError as exc:
        yield Finding("fail", str(exc), "correct it in parley.toml, or in the environment")
        return
    if not sources:
        yield Finding("ok", "none; parley.toml declares them, as [hooks.NAME]")
        return
    for source in sources:
        yield _source(source)
    yield _reachable(settings, is_running=is_running)


def _source(source: Source) -> Finding:
    """Is each of its secrets long enough, and not the same sign again and again?"""
    told = f"{source.name}: scheme {source.lock.scheme}"
    weak = [secret for secret in source.lock.secrets if _is_weak(source, secret)]
    if weak:
        least = f"shorter than {_LEAST_SECRET} characters, or of too few different ones"
        return Finding("warn", f"{told}; a secret is {least}", _NEW_SECRET)
    several = len(source.lock.secrets)
    rotated = f"; {several} secrets are good: remove the old one when it is out of use"
    return Finding("ok", f"{told}{rotated if several > 1 else ''}")


def _is_weak(source: Source, secret: bytes) -> bool:
    own = secret.partition(b":")[2] if source.lock.scheme == "basic" else secret
    return len(own) < _LEAST_SECRET or len(set(own)) < _LEAST_SIGNS


def _reachable(settings: Settings, *, is_running: bool) -> Finding:
    """Can somebody outside send anything to us?"""
    url = settings.url
    if _is_inside(url):
        todo = "set PARLEY_PUBLIC_URL to the address that senders reach, like https://…"
        return Finding("warn", f"{url} is for this machine or network alone", todo)
    if urlsplit(url).scheme != "https":
        todo = "put TLS before it: tokens and payloads can be read on the way"
        return Finding("warn", f"{url} is not https", todo)
    if not is_running:
        return Finding("ok", f"senders use {url}/hooks/NAME; it was not tried: no server runs here")
    if not _answers(url):
        todo = "look at the name, the proxy and its certificate"
        return Finding("warn", f"the server runs, but {url}/healthz does not answer", todo)
    return Finding("ok", f"{url} answers")


def _is_inside(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith((".local", ".internal"))


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=_SECONDS) as answer:  # noqa: S310 (the operator's own address)
            return bool(answer.status == HTTPStatus.OK)
    except (OSError, ValueError):
        return False
