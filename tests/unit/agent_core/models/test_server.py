"""What the client makes of its settings."""

from __future__ import annotations

import pytest

from agent_core.errors import ModelRejected
from agent_core.models.server import Server, server_from


def server(
    model: str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    **environ: str,
) -> Server:
    """Resolve settings, the capitals being the environment."""
    return server_from(model=model, api_key=api_key, base_url=base_url, environ=environ)


def test_what_the_code_says_comes_before_the_environment() -> None:
    """A variable fills only what was left open."""
    environ = {
        "OPENAI_API_KEY": "sk-env",
        "OPENAI_MODEL": "env-model",
        "OPENAI_BASE_URL": "http://env/v1",
    }

    given = server("m", "sk-code", "http://code/v1", **environ)
    open_ = server(**environ)

    assert (given.model, given.api_key, given.base_url) == ("m", "sk-code", "http://code/v1")
    assert (open_.model, open_.api_key, open_.base_url) == ("env-model", "sk-env", "http://env/v1")


def test_a_key_alone_means_openai() -> None:
    """The default server and model."""
    found = server(OPENAI_API_KEY="sk-env", OPENAI_MODEL="")

    assert (found.model, found.base_url, found.address) == ("gpt-4.1-mini", None, "api.openai.com")


def test_a_missing_key_is_named_with_what_it_looks_like() -> None:
    """Whoever reads the message knows what to set."""
    with pytest.raises(ModelRejected, match=r"OPENAI_API_KEY is not set.*sk-….*OPENAI_BASE_URL"):
        server(OPENAI_API_KEY="  ")


def test_a_local_server_needs_no_key() -> None:
    """With an address there may be no key."""
    assert server(base_url="http://localhost:8000/v1").api_key is None


def test_a_key_read_from_a_file_loses_its_newline() -> None:
    """The most common way to break a key is harmless."""
    assert server(OPENAI_API_KEY="sk-abc\n").api_key == "sk-abc"


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-a\x00b", "sk—dash"])
def test_a_key_that_no_header_takes_is_refused_without_being_quoted(key: str) -> None:
    """The HTTP library would quote the key in its complaint; ours does not."""
    with pytest.raises(ModelRejected, match="OPENAI_API_KEY has characters") as caught:
        server(api_key=key)

    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["localhost:8000/v1", "ftp://x/v1", "http://", "http://x:nan/v1", "http://[/", "http://a b"],
)
def test_what_is_no_address_is_refused_by_name(url: str) -> None:
    """The message names the variable and shows a good value."""
    with pytest.raises(ModelRejected, match=r"OPENAI_BASE_URL is not an address.*http://localhost"):
        server(base_url=url)


def test_messages_name_the_server_without_a_password() -> None:
    """A password in the URL stays out of the log."""
    assert server(base_url="http://me:secret@host:8000/v1").address == "host:8000"


def test_the_key_is_taken_out_of_what_others_write() -> None:
    """Some servers quote the key back."""
    assert server(api_key="sk-abc").without_key("bad key sk-abc!") == "bad key [key]!"


def test_the_key_is_in_no_repr() -> None:
    """A stray log line can't show it."""
    assert "sk-abc" not in repr(server(api_key="sk-abc"))
