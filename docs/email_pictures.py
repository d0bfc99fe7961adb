"""Makes the picture of docs/email.md: the page behind an approval's link, as a browser shows it.

Run it after a change of the page, where Chromium is installed:
.venv/bin/python docs/email_pictures.py
"""  # noqa: INP001 - run by its path; docs is no package

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from channels.email.link_page import question_page
from channels.outgoing import QuestionCard

FILE = Path(__file__).resolve().parent / "email-approval.png"
CARD = QuestionCard(
    id="q_1",
    thread="th_1",
    kind="approval",
    prompt="May I pay order 1042 back?",
    context="The customer says that it arrived broken.\nSee the picture in the ticket.",
    tool="refund",
    arguments={"order": "1042", "amount": 59.9},
    asked_at=1_794_830_000_000,
    expires_at=1_794_990_000_000,
)


def main() -> None:
    """Write the page down, and take a picture of it."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_bytes(question_page(CARD, "otto@example.com").body)
        subprocess.run(  # noqa: S603 (our own words)
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--disable-background-networking", "--disable-sync", "--no-first-run"),
                *("--window-size=720,760", f"--screenshot={FILE}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )


if __name__ == "__main__":
    main()
