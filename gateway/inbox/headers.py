"""What every page's headers say: nothing from elsewhere, no script but ours, in nobody's frame."""

from __future__ import annotations

from typing import Final

REPORTS: Final = "/reports/csp"
"""Where browsers tell what the policy has stopped; each is counted."""

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        # Not `report-to`: where both stand, Chromium keeps reports back for a minute, and over
        # plain http for ever. Every browser knows the older one.
        f"report-uri {REPORTS}",
    )
)

PAGE: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cache-Control": "no-store",
}
"""`same-origin`, not `no-referrer`: with that, browsers send `Origin: null` with our own forms."""

STATIC: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "public, max-age=31536000, immutable",
}
"""A file's address holds its digest: what is there never changes."""
