"""How the Web API says no: by a name of Slack's, and perhaps what it needed."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """`{"ok": false, "error": code, …}`; `messages` are the details that Slack adds for people."""

    def __init__(self, code: str, *messages: str, **fields: Any) -> None:  # noqa: ANN401 (JSON)
        super().__init__(code)
        self.code = code
        self.messages = messages
        self.fields = fields

    def shown(self) -> dict[str, Any]:
        """Write it as Slack does."""
        body: dict[str, Any] = {"ok": False, "error": self.code, **self.fields}
        if self.messages:
            body["response_metadata"] = {"messages": list(self.messages)}
        return body
