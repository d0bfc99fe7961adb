"""Olga's mailbox: conversations by what mails refer to, and links in a text that is text."""

from __future__ import annotations

from channels.email.double import Errand, Letter, PostOffice, reply, write
from gateway.playground.mailbox import Mail, conversations
from gateway.playground.premises import OLGA


def came(text: str, *, at: float, subject: str = "May I?") -> Letter:
    """Make a letter that came."""
    mail = write("agent@example.com", OLGA, text, subject=subject)
    return Letter(mail.as_bytes(), "agent@example.com", OLGA, at)


def test_reply_stands_in_the_conversation_without_what_it_quotes() -> None:
    """Newest conversation first; in one, oldest first, and the last letter is replied to."""
    first, second = came("one?", at=1), came("two?", at=2, subject="Another")
    errand = Errand(reply(first, "yes"), status="taken", begun=3)
    office = PostOffice(boxes={OLGA: [first, second]}, errands=[errand])
    found = conversations(office)

    assert [one.subject for one in found] == ["May I?", "Another"]
    assert [mail.text for mail in found[0].mails] == ["one?", "yes"]
    assert [one.replied_to for one in found] == [0, 1]


def test_mail_that_is_on_its_way_says_so_and_can_t_be_replied_to() -> None:
    """Until the server has taken it; a mail of one's own begins a conversation too."""
    mail = write(OLGA, "agent@example.com", "Please refund", subject="Refund")
    office = PostOffice(errands=[Errand(mail, tries=2)])
    (found,) = conversations(office)

    assert found.mails[0].status == "on its way, try 2"
    assert found.replied_to is None


def test_links_can_be_clicked_and_all_else_is_text() -> None:
    """A long one is shown in short; markup around it is escaped."""
    mail = Mail(sender="", subject="", text=f"<b>see</b> http://x/{'a' * 60} & http://y/?q=<i>")
    body = str(mail.body)

    assert body.startswith("&lt;b&gt;see&lt;/b&gt; <a href=")
    assert f'href="http://x/{"a" * 60}"' in body
    assert "…</a> &amp; <a href=" in body
    assert body.endswith("&lt;i&gt;")
