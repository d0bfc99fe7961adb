"""What a model's tokens cost, where the operator says so. No price list: prices change."""

from __future__ import annotations

import msgspec

_MILLION = 1_000_000


class Prices(msgspec.Struct, frozen=True):
    """Money per million tokens, in whatever currency the operator counts."""

    input_per_million: float = 0.0
    output_per_million: float = 0.0

    def cost(self, *, input_tokens: int, output_tokens: int) -> float:
        """Price one call."""
        paid = input_tokens * self.input_per_million + output_tokens * self.output_per_million
        return paid / _MILLION
