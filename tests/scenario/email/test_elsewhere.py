"""Mail beside other ways: a thread in Slack whose approver reads mail, and mail from a provider."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from channels.email.double.letters import write
from tests.doubles.post_office import AGENT, AUTHSERV_ID, post_office
from tests.scenario.email.correspondence import ANN, OTTO, Correspondence, correspondence
from tests.scenario.slack.workplace import PARLEY_TOML, workplace

pytestmark = pytest.mark.timeout(120)

OTTO_BY_MAIL = PARLEY_TOML.replace('slack = "T1:UOTTO"', f'email = "{OTTO}"')


async def test_thread_in_slack_is_approved_by_mail(tmp_path: Path) -> None:
    """He is not in Slack: he is asked in his mailbox, and everybody there sees the answer."""
    async with post_office() as office:
        more = {
            "EMAIL_ADDRESS": AGENT,
            "SMTP_URL": office.smtp_url,
            "IMAP_URL": office.imap.url,
            "EMAIL_AUTHSERV_ID": AUTHSERV_ID,
        }
        async with workplace(tmp_path / "parley", "http", more=more) as slack:
            (tmp_path / "parley" / "parley.toml").write_text(OTTO_BY_MAIL)
            await slack.start()
            mail = Correspondence(office, slack.server)
            root = await slack.mention()
            card = await slack.reply(root)
            question = await mail.letter(OTTO, "1042")
            await mail.replies(question, "Yes, go ahead.")
            await slack.settled(card, "Approved")
            result = await slack.reply(root, 2)

    assert "Done." in result.text
    assert slack.ledger == ["1042 59.9"]


async def test_provider_brings_mail_over_http(tmp_path: Path) -> None:
    """Acknowledged when it lasts; without the secret it is nobody's."""
    secret = "0123456789abcdef"
    async with (
        correspondence(tmp_path / "parley", settings={"EMAIL_INBOUND_SECRET": secret}) as here,
        aiohttp.ClientSession() as session,
    ):
        await here.start()
        raw = write(ANN, AGENT, "hello").as_string()
        url = f"{here.server.url}/email/inbound/postmark"
        async with session.post(url, json={"RawEmail": raw}) as answer:
            refused = answer.status
        async with session.post(f"{url}?secret={secret}", json={"RawEmail": raw}) as answer:
            taken = answer.status
        letter = await here.letter(ANN, "hello")

    assert (refused, taken) == (401, 200)
    assert letter.subject == "Re: Refund"
