"""Answers in the languages that people write: plain ones are taken, all others are asked about."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.thread.questions import YES_NO, Option, Question, QuestionId
from gateway.intake import answer_words
from gateway.intake.words import Reading, _tokens, expected, read_words

APPROVED, DENIED = Reading({"approved": True}), Reading({"approved": False})
APPROVAL = Question(id=QuestionId("q_1"), kind="approval", prompt="?")


def choice(*options: str) -> Question:
    """Ask which one."""
    return Question(
        id=QuestionId("q_1"), kind="choice", prompt="?", options=tuple(map(Option, options))
    )


PHRASES = {
    "en": ("Yes please!", "OK, thanks.", "No thanks", "no, because it is Friday"),
    "de": ("Ja bitte", "Hallo,\n\nja, gerne.\n\nViele Grüße", "Nein danke.", "nein, weil zu teuer"),
    "fr": ("oui, merci", "D’accord !", "Non merci", "non, parce que c'est trop"),
    "es": ("sí, por favor", "De acuerdo, gracias", "no, gracias", "no, porque es caro"),
    "pt": ("sim, por favor", "Aprovado. Obrigado!", "não, obrigada", "não, porque é caro"),
    "it": ("sì grazie", "va bene", "no, grazie", "no, perché è caro"),
    "nl": ("ja graag", "akkoord, bedankt", "nee bedankt", "nee, omdat het te duur is"),
    "sv": ("ja tack", "godkänt", "nej tack", "nej, eftersom det är dyrt"),
    "da": ("ja tak", "Godkendt, tak", "nej tak", "nej, fordi det er dyrt"),
    "no": ("ja takk", "Det er greit", "nei takk", "nei, fordi det er dyrt"),
    "fi": ("kyllä, kiitos", "Hyväksytty", "ei kiitos", "ei, koska se on kallis"),
    "pl": ("tak, proszę", "Zgoda", "nie, dziękuję", "nie, ponieważ za drogo"),
    "cs": ("ano, prosím", "Souhlasím.", "ne, děkuji", "ne, protože je to drahé"),
    "ru": ("Да, пожалуйста", "Согласен, спасибо", "нет, спасибо", "нет, потому что дорого"),
    "uk": ("так, будь ласка", "Схвалено", "ні, дякую", "ні, тому що дорого"),
    "zh": ("好的，谢谢", "同意。", "不同意", "不，因为太贵"),
    "ja": ("はい、お願いします", "承認します。", "却下します", "いいえ、高すぎます"),
    "ko": ("네, 감사합니다", "승인합니다.", "아니요", "아니요, 너무 비쌉니다"),
    "he": ("כן, תודה", "אני מאשר", "לא תודה", "לא, כי זה יקר"),
    "tr": ("evet, lütfen", "Onaylıyorum", "hayır", "hayır, çünkü pahalı"),
}
"""Two that approve, one that denies, one that denies and says why."""


@pytest.mark.parametrize("language", PHRASES)
def test_people_answer_in_their_own_language(language: str) -> None:
    """With politeness around it; a reason goes back to the agent."""
    *yes, no, because = PHRASES[language]
    reason = read_words(APPROVAL, because)

    assert [read_words(APPROVAL, text) for text in yes] == [APPROVED, APPROVED]
    assert read_words(APPROVAL, no) == DENIED
    assert reason is not None
    assert (reason.value, bool(reason.comment)) == ({"approved": False}, True)


def test_every_yes_of_the_vocabulary_approves() -> None:
    """None is hidden by a phrase of another language."""
    phrases = [phrase for phrases in answer_words.YES.values() for phrase in phrases]

    assert [one for one in phrases if read_words(APPROVAL, f"{one}.") != APPROVED] == []


def test_every_no_of_the_vocabulary_denies() -> None:
    """None is hidden by a phrase of another language."""
    phrases = [phrase for phrases in answer_words.NO.values() for phrase in phrases]

    assert [one for one in phrases if read_words(APPROVAL, f"{one}!") != DENIED] == []


def test_politeness_alone_decides_nothing() -> None:
    """Thanks are no yes."""
    phrases = [phrase for phrases in answer_words.POLITE.values() for phrase in phrases]

    assert [one for one in phrases if read_words(APPROVAL, one) is not None] == []


@pytest.mark.parametrize(
    "text",
    [
        *("yes, but only 20 euros", "not yes", "yes?", "Yes or no?", "yes no", "ja nein", "maybe"),
        *(
            "no problem",
            "No worries, go ahead",
            "no, that's fine",
            "no, no problem",
            "No. 5 is right",
        ),
        *("no, please go ahead", "no objections", "no more than 20", "no-one told me", "no idea"),
        *("yes 20", "yes €20", "yes 🤔", "yes ~ no", "~~yes~~", "ok wait", "sure thing", "thanks"),
        *("please", "1", "ok if Ann agrees", "kein Problem", "ja aber nicht heute", "oui mais non"),
        *(
            "sí, pero mañana",
            "да, но не сегодня",
            "是不是",
            "好不好",
            "はい、でも明日",
            "네, 하지만",
        ),
        *("כן אבל מחר", "nicht ja", "ya", "yes yes but", "I would say yes", "", " \n ", "…", "?!"),
        *(
            "no, ok",
            "no, yes",
            "nein, kein Problem",
            "Approved? No idea.",
            "👍👎",
            "x",
            "yes\n> no",
        ),
    ],
)
def test_what_is_not_plain_decides_nothing(text: str) -> None:
    """Money is at stake: it stays a message, and they are asked again."""
    assert read_words(APPROVAL, text) is None


@pytest.mark.parametrize(
    "text",
    ["YES", "**Yes**", "_yes_", "“yes”", "yes :)", "👍🏽", "✔️", "Ｙｅｓ", "yes…", "- yes", "JA!!!"],
)
def test_looks_of_a_word_do_not_matter(text: str) -> None:
    """Letter case, emphasis, quotes, width, skin."""
    assert read_words(APPROVAL, text) == APPROVED


def test_people_may_sign_with_their_own_name_and_no_other() -> None:
    """Another name may be a condition, such as whom to ask first."""
    text = "Yes.\n\nBest regards,\nOtto M. Müller"

    assert read_words(APPROVAL, text, names="Otto M. Müller") == APPROVED
    assert read_words(APPROVAL, text, names="Ann") is None
    assert read_words(APPROVAL, "no", names="No Yes") == DENIED


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Hi,\n\nno, too much", "too much"),
        ("No thanks, too much.", "too much."),
        ("no—too much", "too much"),
        ("Not approved: ask Ann first", "ask Ann first"),
        ("No\nIt was paid twice.", "It was paid twice."),
        ("no, it is not ok", "it is not ok"),
    ],
)
def test_reason_follows_the_no(text: str, why: str) -> None:
    """However they are joined."""
    assert read_words(APPROVAL, text) == Reading({"approved": False}, why)


_KNOWN = [
    phrase
    for vocabulary in (answer_words.YES, answer_words.NO, answer_words.POLITE)
    for phrases in vocabulary.values()
    for phrase in phrases
]
_KNOWN_WORDS = frozenset(word for phrase in _KNOWN for word in _tokens(phrase))


@given(
    st.lists(st.sampled_from(_KNOWN), max_size=5),
    st.text(min_size=1, max_size=12).filter(lambda text: set(_tokens(text)) - _KNOWN_WORDS),
    st.lists(st.sampled_from(_KNOWN), max_size=5),
)
def test_text_with_a_word_that_is_not_known_is_never_an_approval(
    before: list[str], unknown: str, after: list[str]
) -> None:
    """Whatever stands around it."""
    text = " ".join([*before, unknown, *after])

    assert read_words(APPROVAL, text) != APPROVED


@given(st.lists(st.sampled_from(_KNOWN), min_size=1, max_size=6))
def test_yes_beside_a_no_is_never_an_approval(phrases: list[str]) -> None:
    """Nor is politeness alone."""
    yes = {_tokens(one) for words in answer_words.YES.values() for one in words}
    no = {_tokens(one) for words in answer_words.NO.values() for one in words}
    said = {_tokens(one) for one in phrases}

    if said & no or not said & yes:
        assert read_words(APPROVAL, "\n".join(phrases)) != APPROVED


@pytest.mark.parametrize(
    "text",
    [
        *("2", "2.", "(2)", "#2", "Option 2", "no. 2", "nr 2", "2) blue", "2. Blue", "blue please"),
        *("the blue", "Hi,\n\nblue, thanks!\n", "BLUE", '"blue"', "２", "②", "2️⃣", "٢", "02"),
        *("bitte 2", "2 danke", "Blue\n\nViele Grüße\nOtto", "вариант 2", "选项 2"),
    ],
)
def test_choice_is_made_by_number_or_name(text: str) -> None:
    """In any script, with politeness around it."""
    assert read_words(choice("red", "blue", "dark blue"), text, names="Otto") == Reading("blue")


@pytest.mark.parametrize(
    "text",
    [
        "1 or 2",
        "both",
        "red blue",
        "4",
        "0",
        "2 red",
        "not blue",
        "no blue",
        "blue but later",
        "-2",
        "2?",
        "",
    ],
)
def test_choice_that_is_not_plain_is_not_made(text: str) -> None:
    """A guess would be ours, not theirs."""
    assert read_words(choice("red", "blue", "dark blue"), text) is None


def test_number_that_is_also_a_name_is_asked_about_until_both_agree() -> None:
    """The list says "1. 2": is "2" the second, or the one that is called so?"""
    question = choice("2", "1")

    assert read_words(question, "2") is None
    assert read_words(question, "1. 2") == Reading("2")
    assert read_words(choice("10", "20"), "2") == Reading("20")


def test_options_called_yes_and_no_are_chosen_in_any_language() -> None:
    """As an approval is."""
    question = Question(id=QuestionId("q_1"), kind="choice", prompt="?", options=YES_NO)

    assert read_words(question, "ja, bitte") == Reading("yes")
    assert read_words(question, "нет") == Reading("no")
    assert read_words(question, "no problem") is None


def test_option_in_polite_words_can_be_chosen() -> None:
    """Nothing is taken from around it that is the name itself."""
    assert read_words(choice("Thanks", "Hello there"), "thanks") == Reading("Thanks")
    assert read_words(choice("the", "a"), "The") == Reading("the")


@pytest.mark.parametrize("text", ["hi, " * 50_000, "no" * 100_000, "\n" * 20_000, "no, " * 30_000])
def test_long_text_is_read_in_no_time(text: str) -> None:
    """Mail holds up to 100 KB of words."""
    start = time.process_time()
    read_words(APPROVAL, text)
    read_words(choice("red", "blue"), text)

    assert time.process_time() - start < 1


def test_what_is_wanted_is_said_in_words() -> None:
    """For every kind of question."""
    assert "yes" in expected(APPROVAL)
    assert "1. red\n2. blue" in expected(choice("red", "blue"))
