"""Links in mail, over HTTP: GET and HEAD show what is asked and change nothing, POST answers.

Programs that look into people's mail open every link in it; so nothing may happen by that. The
token is what lets one in, so another site's page can't post here without it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qs

from agent_core.json_values import canonical
from channels.email.conversations import Conversations
from channels.email.link_page import notice_page, question_page
from channels.email.links import PATH, PREFIX, Pass, link_actor, read_pass
from channels.email.options import EmailOptions
from channels.email.settlement import verdict
from channels.inbound import Decision
from channels.intake import Gatehouse, Received
from channels.outgoing import QuestionCard
from channels.posted_answers import (
    SHOWN,
    Answer,
    Mistakes,
    Posted,
    card_digest,
    read_posted,
)
from channels.web_routes import WebHandler, WebRequest, WebResponse

_FORM: Final = "application/x-www-form-urlencoded"
_MOST_BYTES: Final = 256_000
_MOST_INPUTS: Final = 500
_OVER: Final = {"answered": 409, "withdrawn": 409, "expired": 410}
_CHANGED: Final = "What is asked has changed meanwhile. Please look at it again."


class LinkDoor:
    """Answers at `/a/{token}`; before the channel is started, and after, it asks to come again."""

    def __init__(self, options: EmailOptions, *, clock: Callable[[], float] = time.time) -> None:
        """Take a clock that gives seconds since 1970."""
        self._secret = options.secret_key
        self._ours = options.address
        self._clock = clock
        self._house: Gatehouse | None = None

    def open(self, house: Gatehouse) -> None:
        """Answer from now on."""
        self._house = house

    def close(self) -> None:
        """Answer no more."""
        self._house = None

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Give what is served."""
        return {("GET", PATH): self.show, ("HEAD", PATH): self.show, ("POST", PATH): self.answer}

    async def show(self, request: WebRequest) -> WebResponse:
        """Show what is asked."""
        if self._house is None:
            return _closed()
        given, card = await self._asked(request, self._house)
        if given is None or card is None:
            return _unknown()
        shut = self._shut(given, card) or await self._taken_off(self._house, given, card)
        return shut or question_page(card, given.email)

    async def answer(self, request: WebRequest) -> WebResponse:
        """Take an answer, or say why not."""
        house = self._house
        if house is None:
            return _closed()
        given, card = await self._asked(request, house)
        if given is None or card is None:
            return _unknown()
        posted = _posted(request)
        if isinstance(posted, WebResponse):
            return posted
        if card.status == "open" and (shut := self._shut(given, card)):
            return shut
        is_shown = posted.get(SHOWN, [""])[0] == card_digest(card)
        read = read_posted(card, posted) if is_shown else Mistakes(_CHANGED)
        if isinstance(read, Answer):
            return await self._decide(house, given, card, read, posted)
        again = _looked_at_again(card, given, read, posted if is_shown else None)
        return await self._taken_off(house, given, card) or again

    async def _asked(
        self, request: WebRequest, house: Gatehouse
    ) -> tuple[Pass | None, QuestionCard | None]:
        given = read_pass(request.path.removeprefix(PREFIX), self._secret)
        return given, await house.desk.question(given.question) if given else None

    def _shut(self, given: Pass, card: QuestionCard) -> WebResponse | None:
        """Say that it is too late, if it is: for the question, or for the link."""
        if card.status != "open":
            return _settled(card)
        if self._clock() * 1000 <= given.until:
            return None
        words = "A link works for a while only. You can still answer by a reply to the mail."
        return notice_page(410, "This link has expired", words)

    async def _taken_off(
        self, house: Gatehouse, given: Pass, card: QuestionCard
    ) -> WebResponse | None:
        """Keep what is asked from whoever is not asked any more: a mail can't be called back."""
        place = await self._place(house, given, card)
        may = await house.desk.may_answer(card.id, link_actor(given.email), place)
        if card.status != "open" or may:
            return None
        words = "It is for others now. You need not do anything."
        return notice_page(403, "This is not for you to answer", words)

    async def _place(self, house: Gatehouse, given: Pass, card: QuestionCard) -> str:
        conversations = Conversations(house.memory, self._ours)
        return await conversations.place_with(card.thread, given.email) or f"email:{given.email}"

    async def _decide(
        self, house: Gatehouse, given: Pass, card: QuestionCard, read: Answer, posted: Posted
    ) -> WebResponse:
        """Put it to the intake, also where the question is settled: it knows who was faster."""
        received = await house.intake.receive(
            Decision(
                key=_key(given, read),
                place=await self._place(house, given, card),
                actor=link_actor(given.email),
                question=card.id,
                value=read.value,
                comment=read.comment,
            )
        )
        now = await house.desk.question(card.id) or card
        return _outcome(received, now, given, posted)


def _key(given: Pass, read: Answer) -> str:
    """Name the answer: posted twice it is a copy, and another answer is not."""
    digest = hashlib.sha256(canonical([read.value, read.comment])).hexdigest()[:16]
    return f"link:{given.email}:{given.question}:{digest}"


def _posted(request: WebRequest) -> Posted | WebResponse:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        return notice_page(415, "This can't be read", "Please use the form on the page.")
    if len(request.body) > _MOST_BYTES:
        return notice_page(413, "This is too long", "Please say it in fewer words.")
    try:
        return parse_qs(
            request.body.decode("utf-8"),
            keep_blank_values=True,
            max_num_fields=_MOST_INPUTS,
            errors="strict",
        )
    except ValueError:
        return notice_page(400, "This can't be read", "Please use the form on the page.")


def _looked_at_again(
    card: QuestionCard, given: Pass, mistakes: Mistakes, posted: Posted | None
) -> WebResponse:
    if card.status != "open":
        return _settled(card)
    status = 409 if posted is None else 422
    return question_page(card, given.email, posted=posted, mistakes=mistakes, status=status)


def _outcome(received: Received, card: QuestionCard, given: Pass, posted: Posted) -> WebResponse:
    match received.effect:
        case "taken" | "copy":
            words = f"{verdict(card)}\nYou can close this page." if card.status != "open" else ""
            return notice_page(200, "Thank you", words or "Your answer has been passed on.")
        case "waiting":
            return notice_page(503, "Not yet", "Please try again in a moment.")
    words = received.words or "This was not taken."
    if received.is_shape and card.status == "open":
        return question_page(card, given.email, posted=posted, mistakes=Mistakes(words), status=422)
    if card.status != "open":
        return notice_page(_OVER[card.status], "It is settled already", words)
    return notice_page(403, "This is not for you to answer", words)


def _settled(card: QuestionCard) -> WebResponse:
    title = "It is settled already" if card.status != "expired" else "It is too late"
    return notice_page(_OVER[card.status], title, f"{verdict(card)}\nYou need not do anything.")


def _unknown() -> WebResponse:
    words = (
        "This link leads nowhere: perhaps a part of it was lost on the way."
        " You can still answer by a reply to the mail."
    )
    return notice_page(404, "There is no such question", words)


def _closed() -> WebResponse:
    page = notice_page(503, "Not yet", "Parley is just starting or stopping. Please try again.")
    return WebResponse(status=503, body=page.body, headers={**page.headers, "Retry-After": "5"})
