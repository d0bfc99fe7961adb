"""`parley doctor` in a real installation, beside a server that runs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.post_office import AGENT
from tests.doubles.supervisor import ROOT
from tests.scenario.email.correspondence import correspondence

pytestmark = pytest.mark.timeout(120)


async def examined(folder: Path, environ: dict[str, str]) -> list[dict[str, Any]]:
    """Run the doctor, and give what it says of email."""
    ran = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "gateway", "doctor", "--json"),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await ran.communicate()
    return [one for one in json.loads(out)["items"] if one["name"] == "email"]


async def test_doctor_sends_itself_a_mail_that_the_server_takes(tmp_path: Path) -> None:
    """The server has the door; it tells by the database, and no thread begins."""
    async with correspondence(tmp_path / "parley", "lmtp") as here:
        await here.start()
        environ = {
            "EMAIL_ADDRESS": AGENT,
            "SMTP_URL": here.office.smtp_url,
            "EMAIL_LISTEN": here.office.door,
            "EMAIL_AUTHSERV_ID": "mx.example.com",
            "PARLEY_DATABASE_URL": f"sqlite:///{here.server.folder}/parley.db",
            "PARLEY_PUBLIC_URL": here.server.url,
        }
        found = await examined(here.server.folder, environ)
        threads = here.threads

    assert [one["status"] for one in found] == ["ok"] * 4
    assert "has come back" in found[-1]["told"]
    assert threads == 0
