"""The mail server that takes our mail: what it says becomes the right error, on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from channels.channel import GiveUp, NoSuchAddress, TryLater
from channels.email.oauth import AccessTokens
from channels.email.options import EmailOptions, OAuth
from channels.email.servers import parse_smtp_url
from channels.email.smtp import SmtpClient
from tests.doubles.smtp_server import (
    DROP,
    HANG,
    Certificates,
    Script,
    mail_server,
    make_certificates,
)

MAIL = b"Subject: Hello\r\n\r\nWords.\r\n.\r\nA lone dot is no end.\r\n"
SENDER = "agent+abc@example.com"
OTTO = "otto@example.org"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Give a certificate that nobody knows."""
    folder: Path = tmp_path_factory.mktemp("certificates")
    return make_certificates(folder)


def options(url: str, **more: object) -> EmailOptions:
    """Give what the client needs to know."""
    return EmailOptions(address="agent@example.com", smtp_url=url, **more)  # type: ignore[arg-type]


@asynccontextmanager
async def plain_client(script: Script, *, seconds: float = 5.0) -> AsyncIterator[SmtpClient]:
    """Give a client of a server without TLS."""
    async with mail_server(script) as server:
        client = SmtpClient(options(f"smtp+plain://127.0.0.1:{server.port}"), seconds=seconds)
        yield client
        await client.close()


async def send(client: SmtpClient, recipient: str = OTTO) -> None:
    """Hand in a mail."""
    await client.send(MAIL, sender=SENDER, recipient=recipient)


async def test_mail_arrives_as_it_is_with_its_envelope() -> None:
    """The bytes are the caller's, and so are sender and recipient."""
    script = Script()
    async with plain_client(script) as client:
        await send(client)

    assert [(one.sender, one.recipients) for one in script.taken] == [(SENDER, (OTTO,))]
    assert script.taken[0].raw == MAIL


async def test_connection_is_used_again() -> None:
    """Logging in for each mail is slow, and some servers count."""
    script = Script()
    async with plain_client(script) as client:
        for _ in range(3):
            await send(client)

    assert len(script.taken) == 3
    assert script.connections == 1


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (Script(to_sender=["451 4.3.0 busy"]), TryLater),
        (Script(to_sender=["550 5.7.1 not you"]), GiveUp),
        (Script(to_recipient={OTTO: ["450 4.2.1 greylisted"]}), TryLater),
        (Script(to_recipient={OTTO: ["550 5.1.1 <otto@example.org> unknown"]}), NoSuchAddress),
        (Script(to_data=["452 4.3.1 full"]), TryLater),
        (Script(to_data=["554 5.6.0 spam"]), GiveUp),
        (Script(to_data=["530 5.7.0 log in first"]), TryLater),
        (Script(to_data=[DROP]), TryLater),
        (Script(to_sender=["421 4.7.0 going down"]), TryLater),
    ],
)
async def test_refusal_tells_who_must_act(script: Script, error: type[Exception]) -> None:
    """Now or never, the mail or the recipient; and the next mail goes out all the same."""
    async with plain_client(script) as client:
        with pytest.raises(error) as caught:
            await send(client)
        assert type(caught.value) is error
        assert "otto" not in str(caught.value)
        await send(client)

    assert len(script.taken) == 1


async def test_silent_server_is_given_up_on_in_time() -> None:
    """There is a deadline on the whole of it; the connection is not used again."""
    script = Script(to_data=[HANG])
    async with plain_client(script, seconds=0.3) as client:
        with pytest.raises(TryLater, match="too long"):
            await send(client)
    assert script.taken == []


async def test_connection_that_went_away_is_replaced() -> None:
    """Servers hang up on idle clients: nobody's mail fails for that."""
    script = Script()
    async with plain_client(script) as client:
        await send(client)
        script.to_sender = [DROP]
        await send(client)
        script.to_sender = ["421 4.4.2 idle for too long"]
        await send(client)

    assert len(script.taken) == 3


async def test_connection_that_was_idle_for_long_is_not_used() -> None:
    """Better a new one than a mail that falls into a hole."""
    script, now = Script(), 0.0
    async with mail_server(script) as server:
        made = options(f"smtp+plain://127.0.0.1:{server.port}")
        client = SmtpClient(made, clock=lambda: now)
        await send(client)
        now = 21.0
        await send(client)
        await client.close()

    assert (len(script.taken), script.connections) == (2, 2)


async def test_nobody_listens() -> None:
    """No connection is a reason to try later."""
    async with mail_server(Script()) as server:
        port = server.port
    client = SmtpClient(options(f"smtp+plain://127.0.0.1:{port}"), seconds=2)
    with pytest.raises(TryLater, match="no connection"):
        await send(client)


async def test_many_at_once_share_few_connections() -> None:
    """The server is not flooded."""
    script = Script()
    async with plain_client(script) as client:
        await asyncio.gather(*(send(client) for _ in range(20)))

    assert len(script.taken) == 20
    assert script.connections <= 4


# --- TLS ------------------------------------------------------------------------------------------


async def test_starttls_comes_before_the_password(certificates: Certificates) -> None:
    """With `smtp://` the line is secured first, and then we log in."""
    script = Script(user=("agent", "s3cret/ü"))
    async with mail_server(script, starttls=certificates.server) as server:
        url = f"smtp://agent:s3cret%2F%C3%BC@127.0.0.1:{server.port}"
        client = SmtpClient(options(url), tls=certificates.client)
        await send(client)
        await client.close()

    assert len(script.taken) == 1
    assert script.logins == ["agent"]


async def test_tls_from_the_start(certificates: Certificates) -> None:
    """With `smtps://` there is nothing but TLS."""
    script = Script()
    async with mail_server(script, tls=certificates.server) as server:
        client = SmtpClient(options(f"smtps://127.0.0.1:{server.port}"), tls=certificates.client)
        await send(client)
        await client.close()

    assert len(script.taken) == 1


@pytest.mark.parametrize("who", ["", "agent:secret@"])
async def test_server_without_starttls_gets_no_mail(certificates: Certificates, who: str) -> None:
    """Somebody in between can take the offer away: then nothing is sent, and no password either."""
    script = Script()
    async with mail_server(script) as server:
        url = f"smtp://{who}127.0.0.1:{server.port}"
        client = SmtpClient(options(url), tls=certificates.client)
        with pytest.raises(TryLater):
            await send(client)

    assert (script.taken, script.logins) == ([], [])


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_unknown_certificate_is_not_trusted(certificates: Certificates, scheme: str) -> None:
    """By default certificates are checked."""
    script = Script()
    starttls = certificates.server if scheme == "smtp" else None
    tls = certificates.server if scheme == "smtps" else None
    async with mail_server(script, starttls=starttls, tls=tls) as server:
        client = SmtpClient(options(f"{scheme}://127.0.0.1:{server.port}"))
        with pytest.raises(TryLater, match=r"(?i)certificate"):
            await send(client)

    assert script.taken == []


async def test_wrong_password_waits_for_the_operator(certificates: Certificates) -> None:
    """The mail is not lost over it, and the check tells what is wrong."""
    script = Script(user=("agent", "right"))
    async with mail_server(script, starttls=certificates.server) as server:
        url = f"smtp://agent:wrong@127.0.0.1:{server.port}"
        client = SmtpClient(options(url), tls=certificates.client)
        with pytest.raises(TryLater, match="let us in"):
            await send(client)
        with pytest.raises(TryLater, match=r"let us in \(535"):
            await client.check()


async def test_check_logs_in_and_sends_nothing() -> None:
    """What the doctor asks."""
    script = Script()
    async with plain_client(script) as client:
        await client.check()

    assert (script.connections, script.taken) == (1, [])


# --- XOAUTH2 --------------------------------------------------------------------------------------


@asynccontextmanager
async def token_server(*answers: web.Response) -> AsyncIterator[tuple[OAuth, list[dict[str, str]]]]:
    """Serve access tokens, and write down how they were asked for."""
    asked: list[dict[str, str]] = []
    left = list(answers)

    async def grant(request: web.Request) -> web.Response:
        asked.append({name: str(value) for name, value in (await request.post()).items()})
        return left.pop(0)

    app = web.Application()
    app.router.add_post("/token", grant)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield (
            OAuth(
                token_url=f"http://127.0.0.1:{port}/token",
                client_id="id",
                client_secret="hidden",
                refresh_token="refresh",
            ),
            asked,
        )
    finally:
        await runner.cleanup()


def granted(token: str, seconds: int = 3_600) -> web.Response:
    """Grant a token."""
    return web.json_response({"access_token": token, "expires_in": seconds, "token_type": "Bearer"})


async def test_xoauth2_logs_in_with_a_fresh_token(certificates: Certificates) -> None:
    """The refresh token is exchanged once; no password is anywhere."""
    script = Script(user=("agent@example.com", "-"), bearer="t1")
    async with (
        token_server(granted("t1")) as (oauth, asked),
        mail_server(script, starttls=certificates.server) as server,
    ):
        made = options(f"smtp://127.0.0.1:{server.port}", oauth=oauth)
        client = SmtpClient(made, tls=certificates.client)
        await send(client)
        await send(client)
        await client.close()

    assert len(script.taken) == 2
    assert asked[0]["grant_type"] == "refresh_token"
    assert asked[0]["refresh_token"] == "refresh"


async def test_refused_token_is_fetched_anew(certificates: Certificates) -> None:
    """A server may call a token bad before its time."""
    script = Script(user=("agent@example.com", "-"), bearer="t2")
    async with (
        token_server(granted("t1"), granted("t2")) as (oauth, _),
        mail_server(script, starttls=certificates.server) as server,
    ):
        made = options(f"smtp://127.0.0.1:{server.port}", oauth=oauth)
        client = SmtpClient(made, tls=certificates.client)
        with pytest.raises(TryLater, match="let us in"):
            await send(client)
        await send(client)
        await client.close()

    assert len(script.taken) == 1


async def test_token_is_renewed_before_it_ends() -> None:
    """Two minutes early: who logs in with it must still be let in."""
    now = 0.0
    async with token_server(granted("t1", 3_600), granted("t2", 3_600)) as (oauth, asked):
        tokens = AccessTokens(oauth, clock=lambda: now)
        assert await asyncio.gather(*(tokens.token() for _ in range(5))) == ["t1"] * 5
        now = 3_600 - 121
        assert await tokens.token() == "t1"
        now = 3_600 - 119
        assert await tokens.token() == "t2"

    assert len(asked) == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (web.json_response({"error": "invalid_grant"}, status=400), "answers 400"),
        (web.Response(text="<html>"), "can't be read"),
        (web.json_response({"access_token": "a\r\nb"}), "holds no token"),
        (web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}), "answers 302"),
    ],
    ids=["refused", "no JSON", "line break", "redirect"],
)
async def test_no_token_is_a_reason_to_try_later(answer: web.Response, words: str) -> None:
    """An operator must act; the mail can wait. Secrets are not carried on to another place."""
    async with token_server(answer) as (oauth, _):
        with pytest.raises(TryLater, match=words):
            await AccessTokens(oauth).token()


async def test_token_server_that_is_away_is_a_reason_to_try_later() -> None:
    """As is one that says nothing."""
    async with token_server() as (oauth, _):
        pass
    with pytest.raises(TryLater, match="can't be reached"):
        await AccessTokens(oauth).token()


# --- URLs -----------------------------------------------------------------------------------------


def test_url_says_how_the_line_is_secured() -> None:
    """The scheme is the whole of it; a password never shows."""
    read = parse_smtp_url("smtp://me%40x.org:p%3Aw@mail.example.com")

    assert (read.security, read.port, read.username) == ("starttls", 587, "me@x.org")
    assert read.password == "p:w"
    assert "p:w" not in repr(read)
    assert parse_smtp_url("smtps://h").port == 465
    assert parse_smtp_url("smtp+plain://[::1]:2525").host == "::1"


@pytest.mark.parametrize("url", ["", "mail.example.com", "http://x", "smtp://", "smtp://h:port"])
def test_wrong_url_is_told_what_it_looks_like(url: str) -> None:
    """Before anything starts."""
    with pytest.raises(ValueError, match="it looks like smtp://"):
        parse_smtp_url(url)
