"""The page: everything that is to be seen now, rendered on the server. Nothing here acts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from jinja2 import PackageLoader

from channels.slack.double.page.sight import Sight, sight
from channels.slack.double.page.templates import environment
from gateway.playground import guide
from gateway.playground.account import accounts
from gateway.playground.chronicle import chronicle
from gateway.playground.mailbox import conversations
from gateway.playground.premises import ANN, CHANNEL, OLGA, TEAM
from gateway.playground.release import MACHINES
from gateway.playground.script import REFUND, RELEASE
from gateway.playground.stage import Stage

_TEMPLATES: Final = environment(PackageLoader("gateway.playground", "templates"))
_TEMPLATES.filters["arguments"] = lambda value: json.dumps(value, ensure_ascii=False, indent=2)
_LINES: Final = 60
_KINDS: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def render(stage: Stage, *, note: str = "") -> str:
    """Render the page as it is now."""
    scene, fleet = stage.scene, stage.premises.fleet()
    steps = guide.ticked(scene)
    return _TEMPLATES.get_template("playground.html").render(
        note=note,
        model=stage.model,
        scene=scene,
        life=scene.lives[-1] if scene.lives else None,
        steps=steps,
        done=sum(step.is_done for step in steps),
        aim=next((step.step.where for step in steps if step.is_next), ""),
        slack_url=stage.slack.url,
        channel=_sight(stage, CHANNEL),
        direct=_sight(stage, stage.team.dm(ANN).id),
        mails=conversations(stage.office),
        olga=OLGA,
        runs=stage.pipeline.runs[-3:],
        machines=_machines(fleet),
        is_clean=len(fleet) == len(set(fleet)),
        refunds=stage.premises.refunds(),
        accounts=accounts(scene)[-3:],
        lines=chronicle(scene)[-_LINES:][::-1],
        release=f"@parley {RELEASE}",
        refund=REFUND,
    )


def _sight(stage: Stage, channel: str) -> Sight:
    where = {"team": TEAM, "as": ANN, "channel": channel}
    return sight(stage.slack.world, where)


def _machines(fleet: list[str]) -> Mapping[str, tuple[str, int]]:
    """Give for each machine what runs there, and how often it was ever switched."""
    shown: dict[str, tuple[str, int]] = dict.fromkeys(MACHINES, ("2.3.9", 0))
    for line in fleet:
        machine, version, _key = line.split()
        shown[machine] = (version, shown[machine][1] + 1)
    return shown


def asset(name: str) -> tuple[bytes, str] | None:
    """Give one of our own files, and its type; the tokens of the look are the inbox's."""
    owner = "gateway.inbox" if name in {"style.css", "icon.svg"} else "gateway.playground"
    found = files(owner).joinpath("static", name)
    kind = _KINDS.get(name.rpartition(".")[2])
    return (found.read_bytes(), kind) if kind and found.is_file() else None
