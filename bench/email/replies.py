"""How many replies are found right, on cases that other mail projects test themselves with.

Exact: the same after white space and the marks of emphasis are taken out. Lossless: no word of the
expected reply is missing. Clean: no word was added. An exact one is both: some projects write their
expectations without white space, where words can't be counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from channels.email.mail import ReadingOptions
from channels.email.markup.body import trim_html
from channels.email.reading import read_mail
from channels.email.trimming.trimmer import trim

CASES = Path(__file__).parents[2] / ".." / "shared" / "data" / "mail"
_MARKS = re.compile(r"[\s*_#`]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Result:
    """One case, and what came out."""

    name: str
    kind: str
    expected: str
    found: str

    @property
    def is_exact(self) -> bool:
        """Whether the reply is the expected one."""
        return _MARKS.sub("", self.expected) == _MARKS.sub("", self.found)

    @property
    def is_lossless(self) -> bool:
        """Whether every expected word is there."""
        return self.is_exact or not _words(self.expected) - _words(self.found)

    @property
    def is_clean(self) -> bool:
        """Whether no other word is there."""
        return self.is_exact or not _words(self.found) - _words(self.expected)


def run(folder: Path) -> list[Result]:
    """Read all cases."""
    return list(_results(folder))


def _results(folder: Path) -> Iterator[Result]:
    with (folder / "reply_cases.jsonl").open(encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            yield Result(case["id"], case["kind"], case["expected_reply"], _found(case, folder))


def _found(case: dict[str, str], folder: Path) -> str:
    match case["kind"]:
        case "text":
            return trim(case["text"]).text
        case "html":
            return trim_html(case["text"]).text
        case _:
            return read_mail((folder / case["raw"]).read_bytes(), None, ReadingOptions()).reply


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.replace("_", " ")))


def report(results: list[Result]) -> str:
    """Tell the shares, and name the cases that are not exact."""
    total = len(results)
    shares = {
        "exact": sum(one.is_exact for one in results),
        "lossless": sum(one.is_lossless for one in results),
        "clean": sum(one.is_clean for one in results),
    }
    told = [
        f"{name:<9}{count:>4} of {total}  {count / total:.1%}" for name, count in shares.items()
    ]
    missed = [f"  {one.name} ({one.kind})" for one in results if not one.is_exact]
    return "\n".join([*told, "not exact:" if missed else "", *missed]).rstrip()
