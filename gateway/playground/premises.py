"""The folder that a playground lives in: what an operator would have written, and the settings.

Everything is made up here, and on loopback only; it goes when the playground ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.playground.desk import LEDGER
from gateway.playground.release import FLEET

TEAM, BOT, ANN, CHANNEL = "TPLAY", "UBOT", "UANN", "CRELEASES"
OLGA = "olga@example.com"
HOOK = "ci"
LEASE_MS = 1_500
"""How long a dead server's work waits for the next one; by default 30 s, which is long to watch."""

_NOT_OURS = ("PARLEY_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_", "OPENAI_")
PARLEY_TOML = f"""\
[[people]]
name = "ann"
slack = "{TEAM}:{ANN}"
roles = ["lead", "operator"]

[[people]]
name = "olga"
email = "{OLGA}"
roles = ["lead"]

[routes]
slack = "release"
email = "refund-desk"

[hooks.{HOOK}]
preset = "github-ci"
secret_env = "CI_SECRET"
agent = "release"
requester = "ann"
"""


def _secret() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Premises:
    """The folder, its ports, and secrets that nobody else knows."""

    path: Path
    port: int
    """Of the real server."""
    mail_port: int
    """Of its door for mail."""
    signing_secret: str = field(default_factory=_secret)
    hook_secret: str = field(default_factory=_secret)
    secret_key: str = field(default_factory=_secret)
    mail_password: str = field(default_factory=_secret)

    @property
    def url(self) -> str:
        """Where the real server listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def database_url(self) -> str:
        """Where the real server keeps everything."""
        return f"sqlite:///{self.path}/parley.db"

    @property
    def log(self) -> Path:
        """What the real servers have logged, one after the other."""
        return self.path / "server.log"

    def furnish(self) -> None:
        """Write what an operator writes."""
        (self.path / "parley.toml").write_text(PARLEY_TOML)

    def fleet(self) -> list[str]:
        """Give which machines were switched to what: the outside world."""
        return _lines(self.path / FLEET)

    def refunds(self) -> list[str]:
        """Give what was really paid back."""
        return _lines(self.path / LEDGER)

    def environment(
        self, outside: Mapping[str, str], *, slack_api: str, smtp_url: str, model: Mapping[str, str]
    ) -> dict[str, str]:
        """Give the settings of the real server; of the caller's own, none that would meddle."""
        kept = {name: value for name, value in outside.items() if not name.startswith(_NOT_OURS)}
        return {
            **kept,
            **model,
            "PARLEY_AGENTS": "gateway.playground.release,gateway.playground.desk",
            "PARLEY_DATABASE_URL": self.database_url,
            "PARLEY_CONFIG": str(self.path / "parley.toml"),
            "PARLEY_PORT": str(self.port),
            "PARLEY_SECRET_KEY": self.secret_key,
            "PARLEY_LOG": "warning/text",
            "PARLEY_FAILPOINT_LEASE_MS": str(LEASE_MS),
            "CI_SECRET": self.hook_secret,
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_SIGNING_SECRET": self.signing_secret,
            "SLACK_API_URL": slack_api,
            "EMAIL_ADDRESS": "agent@example.com",
            "EMAIL_LISTEN": f"smtp://127.0.0.1:{self.mail_port}",
            "EMAIL_AUTHSERV_ID": "mx.example.com",
            "SMTP_URL": smtp_url,
        }


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
