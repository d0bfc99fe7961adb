"""The child's side of the pipe, with the pipe in our hands."""

from __future__ import annotations

import io

from channels.email.mail import ReadingOptions
from channels.email.wire import Done, FromChild, Job, Ready, Record, frame, from_child
from channels.email.worker import Pipes, serve
from tests.unit.channels.email.letters import letter

SIGNED = letter("DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=s1; h=from; bh=x; b=eHh4")


def answers(*said: Job | Record) -> list[FromChild]:
    """Say something to a child, and give all that it says until the pipe ends."""
    sink = io.BytesIO()
    serve(Pipes(io.BytesIO(b"".join(frame(one) for one in said)), sink))
    heard, data = [], sink.getvalue()
    while data:
        end = 4 + int.from_bytes(data[:4], "big")
        heard.append(from_child(data[4:end]))
        data = data[end:]
    return heard


def job(raw: bytes, options: ReadingOptions | None = None) -> Job:
    """Ask for a mail to be read."""
    return Job(raw, None, options or ReadingOptions(), 10.0)


def test_child_reads_one_mail_after_the_other() -> None:
    """It says that it is ready, and then gives a mail for each."""
    first, *mails = answers(job(letter(body="one")), job(letter(body="two")))

    assert first == Ready()
    assert [one.mail.reply for one in mails if isinstance(one, Done)] == ["one", "two"]


def test_child_reads_a_mail_whose_signature_is_no_good() -> None:
    """With no key to be had, nobody vouches for it, and it is still read."""
    heard = answers(job(SIGNED, ReadingOptions(verify_dkim=True)), Record(None))

    (done,) = [one for one in heard if isinstance(one, Done)]
    assert not done.mail.authentication.passed
    assert done.mail.reply == "Yes."
