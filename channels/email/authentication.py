"""Who vouches for the From: our own server's Authentication-Results (RFC 8601), or the signature.

Anybody can write such a header. Ours is the topmost that carries the name of our server, and our
server takes away those that came with the mail. A signature with `l=` covers only the beginning of
a mail: others can add to it, so it vouches for nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from channels.email.alignment import ascii_domain, is_aligned
from channels.email.headers import Headers
from channels.email.mail import Authentication, Method

_RESULT: Final = re.compile(r"([\w-]{1,40})(?:/\d+)?\s{0,4}=\s{0,4}([\w-]{1,40})")
_PROPERTY: Final = re.compile(
    r"([\w-]{1,20}\.[\w-]{1,20})\s{0,4}=\s{0,4}(\"[^\"]{0,300}\"|[^\s;]{1,300})"
)
_TAG: Final = re.compile(
    r"(?:^|;)\s{0,100}([a-z]{1,4})\s{0,100}=\s{0,100}([^;]{0,2000})", re.IGNORECASE
)


@dataclass(slots=True)
class Result:
    """One method's result."""

    method: str
    value: str
    properties: dict[str, str] = field(default_factory=dict)


def judge(headers: Headers, domain: str, authserv_id: str) -> Authentication:
    """Read what our server found out about a mail from a domain."""
    if not authserv_id:
        return Authentication(reason="EMAIL_AUTHSERV_ID is not set, so nobody's word is taken")
    results = our_results(headers, authserv_id)
    if results is None:
        return Authentication(reason=f"there are no Authentication-Results of {authserv_id}")
    if any("l" in tags and is_aligned(tags.get("d", ""), domain) for tags in signatures(headers)):
        return Authentication(
            reason="its DKIM signature covers only a part of it (l=)", by=authserv_id
        )
    # DMARC is the domain's own rule: where it is broken, no signature of a subdomain mends it.
    if any(one.method == "dmarc" and one.value == "fail" for one in results):
        return Authentication(failed=True, reason=_why_not(results), by=authserv_id)
    for result in results:
        if (vouching := _vouching(result, domain)) and result.value == "pass":
            method: Method = "dmarc" if result.method == "dmarc" else "dkim"
            return Authentication(passed=True, method=method, domain=vouching, by=authserv_id)
    return Authentication(reason=_why_not(results), by=authserv_id)


def _vouching(result: Result, domain: str) -> str:
    """Give the domain that a result speaks for, if it is that of the From."""
    if result.method == "dmarc":
        told = result.properties.get("header.from", "").rpartition("@")[2]
        return told if told and ascii_domain(told) == ascii_domain(domain) else ""
    if result.method == "dkim":
        told = result.properties.get("header.d") or result.properties.get("header.i", "")
        told = told.rpartition("@")[2]
        return told if is_aligned(told, domain) else ""
    return ""


def _why_not(results: list[Result]) -> str:
    told = [
        f"{one.method}={one.value}" for one in results if one.method in {"dmarc", "dkim", "spf"}
    ]
    return f"our server found {', '.join(told[:6])}" if told else "our server checked nothing"


# --- the header -----------------------------------------------------------------------------------


def our_results(headers: Headers, authserv_id: str) -> list[Result] | None:
    """Give the results of the topmost header that is ours; nothing if there is none."""
    for value in headers.all("authentication-results"):
        first, *rest = _pieces(value)
        words = first.split()
        if words and words[0].lower().rstrip(".") == authserv_id.lower().rstrip("."):
            return [result for piece in rest if (result := _result(piece))]
    return None


def _result(piece: str) -> Result | None:
    found = _RESULT.match(piece.strip())
    if not found:
        return None
    properties = {
        one[1].lower(): one[2].strip('"') for one in reversed(list(_PROPERTY.finditer(piece)))
    }
    return Result(found[1].lower(), found[2].lower(), properties)


def _pieces(value: str) -> list[str]:
    """Split at semicolons outside quotes, without comments: a comment may say anything."""
    pieces: list[str] = [""]
    current: list[str] = []
    comments, quoted, escaped = 0, False, False
    for char in value:
        if escaped or (char == "\\" and (quoted or comments)):
            escaped = not escaped
        elif char == '"' and not comments:
            quoted = not quoted
            current.append(char)
        elif not quoted and char in "()":
            comments = max(0, comments + (1 if char == "(" else -1))
        elif not comments and char == ";" and not quoted:
            pieces[-1] = "".join(current)
            pieces.append("")
            current = []
        elif not comments:
            current.append(char)
    pieces[-1] = "".join(current)
    return pieces


def signatures(headers: Headers) -> list[dict[str, str]]:
    """Give the tags of each DKIM-Signature."""
    return [tags_of(value) for value in headers.all("dkim-signature")]


def tags_of(value: str) -> dict[str, str]:
    """Read a list of tags; of two with one name the first counts, and `l=` always shows."""
    tags: dict[str, str] = {}
    for found in _TAG.finditer(value):
        tags.setdefault(found[1].lower(), "".join(found[2].split()))
    return tags
