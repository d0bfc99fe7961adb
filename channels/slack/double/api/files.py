"""`files.info`. The bytes themselves are served under `/files`."""

from __future__ import annotations

from dataclasses import replace

from channels.slack.double import shown
from channels.slack.double.api.call import Call
from channels.slack.double.errors import ApiError
from channels.slack.double.records import Payload


async def info(call: Call) -> Payload:
    """`files.info`: everything about a file, also what an event of Slack Connect left out."""
    file_id = call.args.need("file", "file_not_found")
    for team in call.teams:
        if file_id in team.files:
            file = replace(team.files[file_id], access="visible")
            return {"file": shown.file(file, team), "comments": []}
    raise ApiError("file_not_found")
