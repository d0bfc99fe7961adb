"""Questions of any shape, for tests: what a model, a caller or a hostile person might write."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

from channels.outgoing import Choice, QuestionCard, Vote

NAUGHTY = (
    "",
    " ",
    "\n\n",
    "<!channel> <!here> <!everyone> <!subteam^S012345|team> <@U012345> <#C012345>",
    "`<!channel>` ```<@U012345>``` <!date^1^x|y>",
    "```\n<!channel>\n",
    "~~~\n<@U1>\n```\n<!here>",
    "[click](https://example.com/?a=1&b=<2>) <https://example.com|<!channel>>",
    "<https://example.com> &lt;!channel&gt; &amp;lt;!here&gt;",
    "| a | b |\n|---|---|\n| <!channel> | ```` |",
    "*_~`>" * 20,
    "\u202eevil\u202c \u0000 \x07 \u200b\ufeff",
    "👩‍👩‍👧‍👦" * 50,
    "&" * 4_000,
    "<" * 4_000,
    "x" * 20_000,
    "\n" * 5_000 + "y",
    "> quote\n> > deeper\n# head\n- [ ] task",
)
# By number: hypothesis prints what a strategy samples from, and some of these are long.
naughty = st.integers(0, len(NAUGHTY) - 1).map(lambda at: NAUGHTY[at])
texts = st.one_of(
    naughty, st.text(max_size=200), st.lists(naughty, min_size=2, max_size=3).map("".join)
)
names = st.one_of(st.text(min_size=1, max_size=30), naughty)
_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=12) | st.integers(80, 120).map(
    lambda count: {f"a{at}": at for at in range(count)}
)
_kinds_of_field = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "maxLength": 5_000},
        {"type": "string", "maxLength": 3, "minLength": 7, "default": "longer"},
        {"type": "string", "format": "date", "default": "2026-02-31"},
        {"type": "string", "enum": ["a", "b"], "default": "b"},
        {"enum": list(range(150))},
        {"type": "integer", "minimum": 3, "default": 1},
        {"type": "number", "maximum": 1e300, "default": 1e-9},
        {"type": "boolean", "default": True},
        {"type": ["string", "null"]},
        {"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "null"}]},
        {"$ref": "#/$defs/Circle"},
        {"type": "array", "items": {"enum": ["x", "y"]}, "default": ["y", "y", "z"]},
        {"type": "object", "properties": {}},
        {},
        True,
    ]
)
schemas = st.builds(
    lambda fields, required: {
        "type": "object",
        "properties": fields,
        "required": required,
        "$defs": {"Colour": {"enum": ["red", "blue"]}, "Circle": {"$ref": "#/$defs/Circle"}},
    },
    st.dictionaries(names, _kinds_of_field, max_size=8),
    st.lists(names, max_size=3),
)
KINDS: tuple[Literal["text", "choice", "approval", "form", "event"], ...] = (
    "text",
    "choice",
    "approval",
    "form",
    "event",
)
moments = st.integers(min_value=-(10**18), max_value=10**18)


@st.composite
def cards(draw: st.DrawFn) -> QuestionCard:
    """Draw a question, open or not, that no care was taken with."""
    kind = draw(st.sampled_from(KINDS))
    approved = draw(st.booleans())
    answers = st.one_of(st.just({"approved": approved}), objects, texts).map(
        lambda answer: {"approved": True, "arguments": answer} if approved else answer
    )
    vote = st.builds(
        Vote,
        by=st.sampled_from(["slack:T1:U2", "slack:T9:U2", "<!channel>"]) | names,
        approved=st.booleans(),
        comment=texts,
        arguments=st.none() | objects,
    )
    option = st.builds(Choice, name=names, description=texts)
    many = st.integers(26, 250).map(
        lambda count: [Choice(name=f"{at}" * 80) for at in range(count)]
    )
    return QuestionCard(
        id=draw(st.one_of(st.text(min_size=1, max_size=40), st.just("q" * 3_000))),
        thread="th_1",
        kind=kind,
        prompt=draw(texts),
        context=draw(texts),
        options=draw(st.lists(option, min_size=1, max_size=30) | many) if kind == "choice" else [],
        schema=draw(schemas) if kind == "form" else None,
        tool=draw(names) if kind == "approval" else "",
        arguments=draw(objects) if kind == "approval" else None,
        audience=draw(
            st.lists(st.sampled_from(["slack:T1:U2", "slack:T9:U2", "slack:T1:C3:1.2"]) | names)
        ),
        urgency=draw(st.sampled_from(["low", "normal", "high"])),
        status=draw(st.sampled_from(["open", "open", "answered", "expired", "withdrawn"])),
        answer=draw(answers),
        answered_by=draw(st.sampled_from(["slack:T1:U2", "otto", "<!channel>", ""])),
        comment=draw(texts),
        quorum=draw(st.integers(1, 3)),
        not_requester=draw(st.booleans()),
        votes=draw(st.lists(vote, max_size=30)) if kind == "approval" else [],
        expiry_denies=draw(st.booleans()),
        taken_back=draw(st.booleans()),
        settled_at=draw(st.none() | moments),
        expires_at=draw(st.none() | moments),
    )
