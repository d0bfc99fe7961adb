"""The words by which people say yes and no, as `answer_words.toml` lists them."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Final


def _phrases(listed: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in listed.split(","))


def _by_language(section: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {language: _phrases(listed) for language, listed in section.items()}


_FILE: Final[dict[str, Any]] = tomllib.loads(
    resources.files("gateway.intake").joinpath("answer_words.toml").read_text(encoding="utf-8")
)

YES: Final = _by_language(_FILE["yes"])
NO: Final = _by_language(_FILE["no"])
POLITE: Final = _by_language(_FILE["polite"])
"""What may stand around a yes or a no without changing it."""
REASSURING: Final = _phrases(_FILE["reassuring"])
"""What turns a no that stands before it into its opposite: "no, that's fine"."""
BECAUSE: Final = _phrases(_FILE["because"])
"""What may lead from a no to its reason without a comma."""
NUMBERED: Final = frozenset(_phrases(_FILE["numbered"]))
"""What may stand before the number of an option."""
ARTICLES: Final = frozenset(_phrases(_FILE["articles"]))
"""What may stand before its name, too."""
