"""With the servers that people really have: OpenSMTPD, Dovecot, and TLS."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.email.double.letters import reply, write
from tests.doubles.post_office import AGENT
from tests.doubles.real_mail import RealMail, real_mail, why_not
from tests.scenario.email.correspondence import AGENTS, PARLEY_TOML
from tests.scenario.gateway.cli_installation import free_port
from tests.scenario.gateway.killable_server import killable_server

REASON = why_not()
pytestmark = [pytest.mark.timeout(120), pytest.mark.skipif(bool(REASON), reason=REASON)]


async def story(servers: RealMail, folder: Path, settings: dict[str, str]) -> None:
    """Ann asks, is asked which one, says the number, and reads the result."""
    ann = f"ann.{servers.smtp}@example.com"  # OpenSMTPD's queue outlives a test
    ours = {
        "EMAIL_ADDRESS": AGENT,
        "SMTP_URL": servers.smtp_url,
        "PARLEY_CONFIG": "parley.toml",
        **settings,
    }
    async with killable_server(folder, agents=AGENTS, settings=ours, has_key=False) as server:
        (folder / "parley.toml").write_text(PARLEY_TOML)
        await server.start(lease_ms=0)
        await server.ready()
        await servers.post(write(ann, AGENT, "which one?"))
        question = await servers.letter(ann, "Which?")
        await servers.post(reply(question, "2"))
        result = await servers.letter(ann, "Done.")

    assert "blue" in result.text
    assert result.subject == "Re: Refund"
    assert question.header("Message-ID") in result.header("References")


async def test_opensmtpd_and_a_mailbox_of_dovecot(tmp_path: Path) -> None:
    """IDLE, tags, LMTP and the headers that they add."""
    async with real_mail() as servers:
        await story(servers, tmp_path / "parley", {"IMAP_URL": servers.imap_url})


async def test_opensmtpd_hands_over_by_lmtp(tmp_path: Path) -> None:
    """As docs/email.md says."""
    port = free_port()
    async with real_mail(agents=port) as servers:
        await story(servers, tmp_path / "parley", {"EMAIL_LISTEN": f"lmtp://127.0.0.1:{port}"})
