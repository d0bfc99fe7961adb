"""The model server as we know it: what we were told, and what we have learned by talking to it.

Reads settings and says in plain words what is wrong with them; it opens no connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_core.errors import ModelRejected

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_MODEL = "gpt-4.1-mini"


class Server:
    """Where the model is, its name, and the key to it.

    `takes_stream_options` is learned: it turns false when the server refuses them, for all
    connections and for good. An ordinary class, so that no generated repr shows the key.
    """

    def __init__(self, *, model: str, api_key: str | None, base_url: str | None) -> None:
        self.model = model
        self.api_key = api_key
        self.base_url = base_url
        self.takes_stream_options = True

    @property
    def address(self) -> str:
        """Name the server in messages; without the path, and without a password in the URL."""
        if self.base_url is None:
            return "api.openai.com"
        parts = urlsplit(self.base_url)
        return parts.netloc.rpartition("@")[2]

    def without_key(self, text: str) -> str:
        """Take the key out of a text that others wrote: some servers quote it back."""
        return text.replace(self.api_key, "[key]") if self.api_key else text


def server_from(
    *,
    model: str | None,
    api_key: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
) -> Server:
    """Fill what the code left open from the environment, and check it before anything is sent."""
    url = _setting(base_url, "OPENAI_BASE_URL", environ)
    key = _setting(api_key, "OPENAI_API_KEY", environ)
    if url is not None:
        _check_url(url)
    if key is not None:
        _check_key(key)
    elif url is None:
        raise ModelRejected(
            "OPENAI_API_KEY is not set: it should hold a key that looks like sk-…, or else "
            "OPENAI_BASE_URL the address of a server that needs none, like http://localhost:8000/v1"
        )
    name = _setting(model, "OPENAI_MODEL", environ) or DEFAULT_MODEL
    return Server(model=name, api_key=key, base_url=url)


def _setting(given: str | None, variable: str, environ: Mapping[str, str]) -> str | None:
    # A key read from a file ends in a newline; an empty variable means that it isn't set.
    return (given or environ.get(variable, "")).strip() or None


def _check_key(key: str) -> None:
    # Such a key breaks the header, and the HTTP library's complaint about it quotes the key.
    if not (key.isascii() and key.isprintable()):
        raise ModelRejected(
            "OPENAI_API_KEY has characters that no key has: it should look like sk-…, "
            "plain letters, digits and signs on one line"
        )


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise ModelRejected(
            "OPENAI_BASE_URL is not an address: it should look like http://localhost:8000/v1 "
            "or https://host/v1"
        )
