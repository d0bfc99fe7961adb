"""`parley init` as a new user meets it: what it prints works as printed, up to the channels."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from channels.email.double import reply, write
from channels.slack.double import SlackDouble
from gateway.http.client import Client
from gateway.starter.making import make
from tests.doubles.post_office import post_office
from tests.doubles.supervisor import run_parley
from tests.scenario.gateway.cli_installation import free_port
from tests.scenario.slack.workplace import buttons

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "first-agent.md").read_text()
_OURS = ("PARLEY_", "OPENAI_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_", "COLUMNS")


def clean(**more: str) -> dict[str, str]:
    """Give an environment that says nothing, so that `.env` does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return kept | more


def run(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Type a command as it was printed."""
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=clean(**env),
        capture_output=True,
        text=True,
        check=False,
    )


def parley(*arguments: str, here: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end."""
    return run_parley(arguments, here, clean(**env), stdin="", seconds=30)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a fresh project."""
    return make(tmp_path / "my-agent").folder


@asynccontextmanager
async def serving(project: Path, **env: str) -> AsyncIterator[Mapping[str, str]]:
    """Run `parley serve` in the project; give the settings by which others find it."""
    port = free_port()
    ours = {"PARLEY_PORT": str(port), "PARLEY_URL": f"http://127.0.0.1:{port}", **env}
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "gateway", "serve"),
        cwd=project,
        env=clean(**ours),
        stderr=asyncio.subprocess.PIPE,
    )
    assert server.stderr is not None
    try:
        async with asyncio.timeout(30):
            while b"listening" not in (line := await server.stderr.readline()):
                assert line, "it ended"
        yield ours
    finally:
        server.terminate()
        await server.communicate()


def test_next_commands_work_exactly_as_printed(tmp_path: Path) -> None:
    """The test passes, and the doctor finds nothing wrong; each is typed as it stands there."""
    made = parley("init", "my-agent", here=tmp_path)
    *commands, serve = made.stdout.splitlines()
    ended = [run(" && ".join([commands[0], one]), tmp_path) for one in commands[1:]]

    assert made.returncode == 0
    assert commands[0] == "  cd my-agent"
    assert [one.returncode for one in ended] == [0, 0], ended
    assert "Ran 2 tests" in ended[0].stderr
    assert "helpdesk" in ended[1].stdout
    assert serve.endswith("parley serve")


async def test_agent_is_launched_asked_about_and_answered(project: Path) -> None:
    """With nothing but what init has written: the key and the agent are found in `.env`."""
    key = re.findall(r"^PARLEY_API_KEY=(\S+)", (project / ".env").read_text(), re.MULTILINE)[0]

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return parley(*arguments, here=project, **settings)

    async with serving(project) as settings, Client(settings["PARLEY_URL"], key) as client:
        words = ("launch", "helpdesk", "Please unlock ann")
        launched = await asyncio.to_thread(command, *words)
        thread = f"/v1/threads/{launched.stdout.strip()}"
        question = await seen(client, thread, lambda now: now["questions"])
        decision = ("questions", "answer", question[0]["id"], "--approve")
        answered = await asyncio.to_thread(command, *decision)
        result = await seen(client, thread, lambda now: now["result"])

    assert (launched.returncode, answered.returncode) == (0, 0)
    assert result == "The account of ann is unlocked."
    assert (project / "unlocked.txt").read_text().startswith("ann ")


async def seen(client: Client, path: str, look: Callable[[Any], Any]) -> Any:  # noqa: ANN401 (JSON)
    """Wait until the server shows something."""
    async with asyncio.timeout(30):
        async for _event in client.follow(path.rpartition("/")[2]):
            if found := look((await client.get(path)).data):
                return found
    raise AssertionError("the stream ended")


def test_test_of_the_project_can_fail_and_pytest_runs_it_too(project: Path) -> None:
    """It would tell if the approval were gone."""
    agents = project / "agents.py"
    agents.write_text(agents.read_text().replace("@tool(approval=True)", "@tool"))
    ended = run(f"{sys.executable} -m pytest -q -p no:cacheprovider", project)

    assert "2 failed" in ended.stdout


def test_secrets_are_the_owner_s_alone_and_stay_out_of_git(project: Path) -> None:
    """Mode 0600, listed in .gitignore, and different in each project."""
    other = make(project.parent / "other").folder
    texts = [(folder / ".env").read_text() for folder in (project, other)]
    secrets = [re.findall(r"^PARLEY_\w*KEY=(\S{16,})$", text, re.MULTILINE) for text in texts]

    assert stat.S_IMODE((project / ".env").stat().st_mode) == 0o600
    assert {".env", "parley.db*"} <= set((project / ".gitignore").read_text().split())
    assert [len(found) for found in secrets] == [2, 2]
    assert len({*secrets[0], *secrets[1]}) == 4


def test_json_is_for_programs(tmp_path: Path) -> None:
    """Where, what, and how to go on; without a folder's name it is this one."""
    told = json.loads(parley("init", "--json", here=tmp_path).stdout)

    assert told["folder"] == str(tmp_path)
    assert set(told["files"]) <= {file.name for file in tmp_path.iterdir()}
    assert [command.split()[-1] for command in told["next"]] == ["unittest", "doctor", "serve"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """One file that is there already, and none is written; it exits with 1 and says which."""
    (tmp_path / "agents.py").write_text("mine")
    refused = parley("init", here=tmp_path)

    assert refused.returncode == 1
    assert "agents.py already; nothing was written" in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["agents.py"]
    assert (tmp_path / "agents.py").read_text() == "mine"


def settings_of(chapter: str) -> list[str]:
    """Give the settings that a chapter of the guide tells to write."""
    text = GUIDE.partition(f"\n## {chapter}")[2].partition("\n## ")[0]
    return re.findall(r"^([A-Z_]+)=", text, re.MULTILINE)


def add(project: Path, names: list[str], values: Mapping[str, str]) -> None:
    """Write settings into `.env`, as the guide says; the values are the doubles'."""
    with (project / ".env").open("a") as file:
        file.writelines(f"{name}={values[name]}\n" for name in names)


async def test_guide_leads_to_slack_and_to_email(project: Path) -> None:
    """With the settings that it names, and no others, people mention, click, write and reply."""
    async with SlackDouble() as slack, post_office() as office:
        team = slack.workspace("T1", bot_token="xoxb-1")
        team.user("UANN", name="ann", email="ann@example.com")
        team.channel("C1", members=["UANN", "UBOT"])
        add(
            project,
            [*settings_of("2. Slack"), *settings_of("3. Email")],
            {
                "SLACK_BOT_TOKEN": "xoxb-1",
                "SLACK_APP_TOKEN": "xapp-1",
                "EMAIL_ADDRESS": office.agent,
                "SMTP_URL": office.smtp_url,
                "IMAP_URL": office.imap.url,
                "EMAIL_AUTHSERV_ID": office.authserv_id,
            },
        )
        async with serving(project, SLACK_API_URL=slack.api_url.rstrip("/")):
            await slack.until(lambda: slack.sockets.is_connected, within=30)
            root = await team.says("UANN", "C1", "<@UBOT> please unlock bob")
            (card,) = await slack.until(lambda: team.posted("C1", root.ts), within=30)
            await team.clicks("UANN", card, "parley:approve")
            told = await slack.until(lambda: team.posted("C1", root.ts)[1:], within=30)
            await office.post(write("eve@example.com", office.agent, "Please unlock eve"))
            asked = await office.letter("eve@example.com")
            await office.post(reply(asked, "yes"))
            ended = await office.letter("eve@example.com", 2)

    assert not buttons(team.message("C1", card.ts))
    assert "bob is unlocked" in str(told[0].blocks) + told[0].text
    assert "eve is unlocked" in ended.text
    assert [line.split()[0] for line in (project / "unlocked.txt").read_text().splitlines()] == [
        "bob",
        "eve",
    ]
