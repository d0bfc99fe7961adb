"""Alignment: whether the domain that vouches for a mail is that of its From (RFC 7489, 3.1.1).

Relaxed: the organisation's domain must be the same. Where that begins is not to be seen in a name
(`a.co.uk` and `b.co.uk` are strangers), so the public list of suffixes says it.
"""

from __future__ import annotations

from functools import cache

from publicsuffixlist import PublicSuffixList


def is_aligned(one: str, other: str) -> bool:
    """Tell whether two domains belong to one organisation."""
    first, second = ascii_domain(one), ascii_domain(other)
    if not first or not second:
        return False
    if first == second:
        return True
    organisation = _organisation(first)
    return organisation is not None and organisation == _organisation(second)


def ascii_domain(domain: str) -> str:
    """Give a domain as DNS has it; nothing if it can't be one."""
    name = domain.strip().strip(".").lower()
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return ""


def _organisation(domain: str) -> str | None:
    return _suffixes().privatesuffix(domain)


@cache
def _suffixes() -> PublicSuffixList:
    """Read the list once, when it is first needed: it takes a tenth of a second."""
    return PublicSuffixList(accept_unknown=True)
