"""What must not happen by mail: forgers, strangers, programs that answer, loops, dead addresses."""

from __future__ import annotations

import pytest

from channels.email.double.letters import report, write
from tests.doubles.post_office import AUTHSERV_ID
from tests.scenario.email.conftest import Case
from tests.scenario.email.correspondence import OTTO

pytestmark = [pytest.mark.timeout(120), pytest.mark.asyncio(loop_scope="module")]

HOME = "otto@home.example"


async def test_forged_reply_is_met_with_silence(case: Case) -> None:
    """The address was seen by somebody else; our server says that Otto did not write it."""
    question = await case.question()
    before = len(case.here.office.letters(OTTO))
    await case.here.replies(question, "yes", is_forged=True)
    await case.here.quiet()

    assert (case.paid, len(case.here.office.letters(OTTO))) == (False, before)
    assert "forged mail ignored" in case.here.server.log


async def test_mail_without_proof_approves_nothing(case: Case) -> None:
    """Another server's word is nobody's; whoever wrote is told how to prove it."""
    question = await case.question()
    case.here.office.authserv_id = "mx.elsewhere.example"
    try:
        await case.here.replies(question, "yes")
    finally:
        case.here.office.authserv_id = "mx.example.com"
    await case.here.quiet()

    assert not case.paid


async def test_signed_mail_that_another_hands_in_approves_nothing(case: Case) -> None:
    """Eve asked Otto something else, and has his "yes", vouched for by his own server."""
    question = await case.question()
    proof = f"Authentication-Results: {AUTHSERV_ID}; dmarc=pass header.from=example.com\r\n"
    his = write(OTTO, "eve@elsewhere.example", "yes", subject=question.subject)
    address = str(question.message["Reply-To"])
    await case.here.office.bring(proof.encode() + his.as_bytes(), OTTO, [address])
    await case.here.quiet()
    assert not case.paid

    await case.here.replies(question, "yes")
    await case.here.letter(case.ann, "Done.")
    assert case.paid


async def test_stranger_with_the_address_hears_so_once_a_day(case: Case) -> None:
    """Nothing is passed on; they are who they say they are, so they get a polite note."""
    eve = f"eve.{case.order}@elsewhere.example"
    question = await case.question()
    await case.here.replies(question, "yes", sender=eve)
    note = await case.here.letter(eve, "no part")
    await case.here.replies(question, "yes, I said", sender=eve)
    await case.here.quiet()

    assert (case.paid, len(case.here.office.letters(eve))) == (False, 1)
    assert note.header("Auto-Submitted") == "auto-replied"


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto-Submitted": "auto-replied", "Subject": "Out of office"},
        {"Subject": "Automatic reply: Refund"},
        {"List-Id": "<all.example.com>", "Precedence": "list"},
        {"X-Failed-Recipients": "nobody@example.com"},
    ],
    ids=["auto-replied", "out-of-office", "list", "bounce"],
)
async def test_programs_begin_and_answer_nothing(headers: dict[str, str], case: Case) -> None:
    """And nobody answers them, whether they reply or write anew."""
    program = f"program.{case.order}@example.com"
    question = await case.question()
    letters = len(case.here.office.letters(OTTO))
    await case.here.replies(question, "yes", headers=headers)
    await case.here.writes(program, "hello", headers=headers)
    await case.here.quiet()

    assert not case.paid
    assert len(case.here.office.letters(OTTO)) == letters
    assert case.here.office.letters(program) == []


async def test_two_programs_that_talk_to_each_other_come_to_an_end(case: Case) -> None:
    """One that is not marked as a program answers every mail: the hourly cap stops it."""
    await case.here.writes(case.ann, "hello")
    for number in range(1, 13):
        letter = await case.here.office.letter(case.ann, number)
        await case.here.replies(letter, f"thank you {number}")
    await case.here.quiet()

    assert len(case.here.office.letters(case.ann)) == 12


async def test_bounced_question_goes_to_the_next_address(case: Case) -> None:
    """The return path names the delivery; a mail that is only delayed changes nothing."""
    case.here.office.reports[OTTO] = "failed"
    try:
        question = await case.question(HOME)
    finally:
        del case.here.office.reports[OTTO]
    await case.here.office.bring(report(question, action="delayed"), "", [question.sender])
    await case.here.quiet()
    await case.here.replies(question, "yes")
    await case.here.letter(case.ann, "Done.")

    assert case.paid
    assert len(case.here.letters(HOME, "May I")) == len(
        {one.header("Message-ID") for one in case.here.letters(HOME, "May I")}
    )


async def test_address_that_the_server_refuses_is_given_up(case: Case) -> None:
    """At once, and the question goes on to the next."""
    case.here.office.refuses[OTTO] = "550 5.1.1 no such user"
    try:
        question = await case.question(HOME)
    finally:
        del case.here.office.refuses[OTTO]

    assert question.recipient == HOME
