"""The reply in plain text: what mail programs write around it, in the languages that they speak."""

from __future__ import annotations

import pytest

from channels.email.trimming.trimmer import trim
from tests.unit.channels.email.samples import lines, paragraphs


@pytest.mark.parametrize("attribution", paragraphs("attributions.txt"))
def test_what_stands_under_an_attribution_is_cut(attribution: str) -> None:
    """In every language: quoted with `>`, quoted without it, and right under the reply."""
    quoted = f"Yes, please do.\n\n{attribution}\n\n> May I?\n>\n> Parley\n"
    unmarked = f"Yes, please do.\n\n{attribution}\n\nMay I?\n\nParley\n"
    tight = f"Yes, please do.\n{attribution}\n> May I?\n"

    assert trim(quoted).text == "Yes, please do."
    assert trim(unmarked).text == "Yes, please do."
    assert trim(tight).text == "Yes, please do."


@pytest.mark.parametrize("attribution", paragraphs("attributions.txt"))
def test_reply_below_an_attributed_quote_is_found(attribution: str) -> None:
    """People who answer below get their own lines back, and not the question."""
    body = f"{attribution}\n\n> May I?\n> It costs 10.\n\nYes, please do.\nBut only once.\n"

    assert trim(body).text == "Yes, please do.\nBut only once."


@pytest.mark.parametrize("block", paragraphs("header_blocks.txt"))
@pytest.mark.parametrize("rule", ["", "________________________________\n", "-----\n\n"])
def test_what_stands_under_a_header_block_is_cut(block: str, rule: str) -> None:
    """Outlook's way, in its languages, with a drawn line above it or without."""
    body = f"Yes, please do.\n\n{rule}{block}\n\nMay I?\n\nParley\n"

    assert trim(body).text == "Yes, please do."


@pytest.mark.parametrize("line", lines("originals.txt"))
def test_what_stands_under_a_mark_is_cut(line: str) -> None:
    """A line between dashes, or one that says where the answer ends."""
    assert trim(f"Yes, please do.\n\n{line}\n\nMay I?\nParley\n").text == "Yes, please do."


@pytest.mark.parametrize("line", lines("programs_signatures.txt"))
def test_signature_of_a_program_is_cut(line: str) -> None:
    """At the end, above a quote, and above an original."""
    above = "On Tue, Mar 3, 2026 at 4:05 PM Ada <ada@example.com> wrote:\n\n> May I?\n"

    assert trim(f"Yes, please do.\n\n{line}\n").text == "Yes, please do."
    assert trim(f"Yes, please do.\n\n{line}\n\n{above}").text == "Yes, please do."
    assert trim(f"Yes.\n\n{line}\n\n-------- Original message --------\nMay I?").text == "Yes."


@pytest.mark.parametrize("line", lines("own_words.txt"))
def test_what_a_person_wrote_is_kept(line: str) -> None:
    """Alone, at the end, and in the middle: what only looks like a program's line stays."""
    above = "On Tue, Mar 3, 2026 at 4:05 PM Ada <ada@example.com> wrote:\n\n> May I?\n"

    assert trim(line).text == line
    assert trim(f"Hello\n\n{line}\n").text.endswith(line)
    assert trim(f"Hello\n\n{line}\n\nGoodbye\n\n{above}").text == f"Hello\n\n{line}\n\nGoodbye"


def test_answers_between_quotes_keep_the_quotes() -> None:
    """An answer to each question makes sense only beside it; the words alone are there too."""
    body = (
        "On Tue, Mar 3, 2026 at 4:05 PM Ada <ada@example.com> wrote:\n"
        "> Which size?\n\nM\n\n> And which colour?\n\nblue\n\n> Ada\n"
    )

    reply = trim(body)

    assert reply.text == "> Which size?\n\nM\n\n> And which colour?\n\nblue"
    assert reply.words == "M\n\nblue"


def test_terse_answers_without_blank_lines_are_kept() -> None:
    """A line between two quoted ones is an answer, and no broken quote."""
    body = "Ada <ada@example.com> wrote:\n> Size?\nM\n> Colour?\nblue\n"

    assert trim(body).words == "M\n\nblue"


def test_farewell_under_the_quote_is_kept_and_the_quote_is_not() -> None:
    """Text above the quote and a line or two below: a reply and its greeting."""
    body = "Yes.\n\nOn 03/03/2026 16:05, Ada wrote:\n> May I?\n\nKind regards\nOtto\n"

    assert trim(body).text == "Yes.\n\nKind regards\nOtto"


@pytest.mark.parametrize("delimiter", ["-- ", "--", "—"])
def test_signature_block_is_cut(delimiter: str) -> None:
    """RFC 3676: two dashes on a line of their own, and what is under them."""
    assert trim(f"Yes.\n\n{delimiter}\nOtto\nHead of refunds\n+49 1234\n").text == "Yes."


def test_long_text_under_two_dashes_is_no_signature() -> None:
    """Some people part their paragraphs like that."""
    body = "First.\n--\n" + "\n".join(f"Line {number}" for number in range(30))

    assert trim(body).text == body


def test_quote_alone_is_kept_unless_somebody_is_said_to_have_written_it() -> None:
    """A bare quote may be meant; an attributed one means that nothing was written."""
    assert trim("> just this\n").text == "> just this"
    assert trim("> On 3 Mar 2026, at 16:05, Ada <a@example.com> wrote:\n>\n> May I?\n").text == ""
    assert trim("On 3 Mar 2026, at 16:05, Ada <a@example.com> wrote:\n> May I?\n").text == ""


def test_forwarded_mail_is_kept_whole() -> None:
    """Who passes a mail on wants it to be read."""
    body = (
        "Please take care of this.\n\n---------- Forwarded message ---------\n"
        "From: Customer <c@example.net>\nDate: Tue, Mar 3, 2026 at 4:05 PM\n"
        "Subject: Broken\nTo: <otto@example.org>\n\nIt arrived broken.\n"
    )

    assert trim(body).text == body.strip()


def test_outlooks_forward_is_known_by_its_subject() -> None:
    """Outlook marks a forward like a reply; only the subject tells."""
    body = (
        "Please take care.\n\nFrom: C <c@example.net>\nSent: Tuesday, March 3, 2026\n"
        "To: Otto\nSubject: Broken\n\nIt arrived broken.\n"
    )

    assert trim(body, forwarded=True).text == body.strip()
    assert trim(body).text == "Please take care."


def test_reply_on_the_line_of_an_attribution_is_found() -> None:
    """Some telephones forget the line break."""
    body = "Yes, do it On Tue, Mar 3, 2026 at 4:05 PM, Ada <ada@example.com> wrote:\n> May I?\n"

    assert trim(body).text == "Yes, do it"


def test_mailing_lists_footer_is_cut() -> None:
    """A drawn line, and the list's name under it."""
    body = f"Yes.\n\n{'_' * 47}\nDesk mailing list\nd@example.org\n"

    assert trim(body).text == "Yes."


def test_scanners_footer_is_cut() -> None:
    """Nobody wrote that their mail was checked for viruses."""
    body = "Yes.\n\n---\nThis email has been checked for viruses by Avast antivirus software.\nx\n"

    assert trim(body).text == "Yes."


def test_original_without_dashes_is_known_by_its_headers() -> None:
    """Telephones lose the dashes; the words alone may be the person's."""
    headers = "From: Ada\nSent: Tuesday, March 3, 2026\nTo: Otto\nSubject: Refund\n\nMay I?\n"

    assert trim(f"Yes.\n\nOriginal Message\n{headers}").text == "Yes."
    assert trim("Yes.\n\nOriginal Message\n\nis what we call it").text.endswith("call it")


def test_name_after_a_dash_is_cut_but_an_item_is_not() -> None:
    """`-Otto` signs; `- Otto` and `-otto` may be what was asked for."""
    assert trim("Yes, go ahead.\n\n-Otto Normal\n").text == "Yes, go ahead."
    assert trim("These two:\n\n- Otto\n").text == "These two:\n\n- Otto"
    assert trim("-Otto").text == "-Otto"


def test_link_that_broke_a_quote_belongs_to_it() -> None:
    """A long link is broken by programs, and its rest stands there without a mark."""
    body = (
        "Yes.\n\nOn Tue, Mar 3, 2026, Ada <ada@example.com> wrote:\n> Look (https://example.com/a/\n"
        "b?c=d)\n> May I?\n>\n(https://example.com/e) >\n> Ada\n"
    )

    assert trim(body).text == "Yes."


def test_appointment_is_no_header_block() -> None:
    """Labels alone don't make an original."""
    body = "Let us meet:\n\nDate: Wednesday 3, March 2026\nTime: 7:00\nPlace: Berlin\n\nBye"

    assert trim(body).text == body


def test_marks_of_direction_and_line_ends_don_t_matter() -> None:
    """Windows' line ends, no-break spaces and marks that nobody sees."""
    attribution = "\u200eOn\u00a03 Mar 2026, at 16:05, Ada <a@example.com> wrote:\u200e"
    body = f"Yes.\r\n\r\n{attribution}\r\n> May I?\r\n"

    assert trim(body).text == "Yes."


def test_body_is_read_up_to_a_limit() -> None:
    """100 KB of a body are looked at; the raw mail has the rest."""
    assert len(trim("word " * 50_000).text) <= 100_000
