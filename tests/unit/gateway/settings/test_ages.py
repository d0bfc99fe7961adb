"""Ages, as people write them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.settings.ages import parse_age
from gateway.settings.config import RetentionRules

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("text", "hours"), [("36h", 36), ("90d", 90 * 24), (" 2W ", 336), ("1y", 8760), ("0d", 0)]
)
def test_age_is_a_number_and_a_unit(text: str, hours: int) -> None:
    """Hours, days, weeks, years."""
    assert parse_age(text) == hours * HOUR


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1m", "1.5d", "9999999d", "1d 2h"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    """Nobody deletes by a typing error."""
    with pytest.raises(ValueError, match="90d"):
        parse_age(text)


def test_rule_is_at_least_a_day_and_off_by_default() -> None:
    """What has just ended may still be talked about."""
    assert (RetentionRules().threads, RetentionRules().mails) == ("", "")
    assert RetentionRules(threads="1d", mails="2d").threads_ms() == 24 * HOUR
    for wrong in ("23h", "soon"):
        with pytest.raises(ValidationError):
            RetentionRules(threads=wrong)
