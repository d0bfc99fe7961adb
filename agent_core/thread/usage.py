"""What a model call cost, as a value that adds up."""

from __future__ import annotations

import msgspec


class Usage(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    gc=False,
    rename={"input_tokens": "in", "output_tokens": "out"},
):
    """Tokens in and out, and money where the model's prices are known.

    Every reply of a thread carries one, so it is written with short names.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Everything that counts against a token limit."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Add up two calls."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
        )


NO_USAGE = Usage()


def tidy(usage: Usage) -> Usage:
    """Give an equal value that is written without its zeros: msgspec looks for the very default."""
    if usage == NO_USAGE:
        return NO_USAGE
    return usage if usage.cost else Usage(usage.input_tokens, usage.output_tokens)
