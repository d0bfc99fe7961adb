"""Every address of the inbox, in one table."""

from __future__ import annotations

from channels.identity import SLACK_BACK
from gateway.inbox import static_files, theme
from gateway.inbox.headers import REPORTS
from gateway.inbox.house import House
from gateway.inbox.pages.routes import pages
from gateway.inbox.requests import PageRoute
from gateway.inbox.signing import email, front, key, link_pages, slack

SIGNING = (
    PageRoute(method="GET", path="/signin", run=front.show),
    PageRoute(method="POST", path="/signin/key", run=key.sign_in, most=10_000),
    PageRoute(method="POST", path="/signin/email", run=email.ask, most=10_000),
    PageRoute(method="GET", path="/signin/link/{token}", run=link_pages.show),
    PageRoute(method="POST", path="/signin/link/{token}", run=link_pages.sign_in, most=10_000),
    PageRoute(method="GET", path="/signin/slack", run=slack.leave),
    PageRoute(method="GET", path=SLACK_BACK, run=slack.come_back),
    PageRoute(method="POST", path="/signout", run=front.sign_out, most=10_000),
)
AROUND = (
    PageRoute(method="POST", path="/theme", run=theme.choose, most=10_000),
    PageRoute(method="GET", path="/static/{file}", run=static_files.serve, is_anonymous=True),
    PageRoute(
        method="POST",
        path=REPORTS,
        run=static_files.report,
        most=100_000,
        is_anonymous=True,
        is_checked=False,
    ),
)


def routes(house: House) -> tuple[PageRoute, ...]:
    """Give every address; the pages' own have things in common that belong to one house."""
    return (*SIGNING, *AROUND, *pages(house))
