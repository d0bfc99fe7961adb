"""Hooks in `parley.toml`: what may be declared, and how a mistake is told."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from channels.webhook.declaration import Source
from gateway.settings.config import load_config
from gateway.settings.environment import SettingsError
from gateway.settings.hooks import make_sources

ENVIRONMENT = {"CI_SECRET": "s1", "CI_NEW": " s2 ", "WHSEC": "whsec_c2VjcmV0", "EMPTY": ""}


def read(text: str, *agents: str) -> list[Source]:
    """Read a file as the server does."""
    Path("parley.toml").write_text(text)
    return make_sources(load_config("").hooks, agents or ("release",), ENVIRONMENT)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def told(text: str, *agents: str) -> str:
    """Give what is said of a file."""
    with pytest.raises(SettingsError) as caught:
        read(text, *agents)
    return str(caught.value)


def hook(*lines: str) -> str:
    """Write a hook with a secret, a scheme and a message, and these lines in their place."""
    given = {line.partition(" ")[0] for line in lines}
    usual = {"secret_env": '"CI_SECRET"', "scheme": '"github"', "message": '"m"'}
    rest = [f"{name} = {value}" for name, value in usual.items() if name not in given]
    return "\n".join(["[hooks.ci]", *rest, *lines])


def test_preset_and_a_secret_are_all_that_a_user_writes() -> None:
    """With one agent, that one."""
    (source,) = read('[hooks.ci]\npreset = "github-ci"\nsecret_env = "CI_SECRET"')

    assert (source.name, source.agent.source) == ("ci", "release")
    assert (source.lock.scheme, source.lock.secrets) == ("github", (b"s1",))
    assert "workflow_run" in source.message.source
    assert source.on_repeat == "resume"


def test_several_secrets_are_named_with_commas_while_one_is_rotated() -> None:
    """Or as a list; without the white space around them."""
    (first,) = read(hook('secret_env = "CI_SECRET, CI_NEW"'))
    (second,) = read(hook('secret_env = ["CI_SECRET", "CI_NEW"]'))

    assert first.lock.secrets == second.lock.secrets == (b"s1", b"s2")


def test_field_of_ones_own_overrules_the_preset() -> None:
    """And only that field."""
    lines = ('preset = "github-ci"', 'message = "{{ payload.x }}"', 'audience = "otto"')
    (source,) = read(hook(*lines))

    assert source.message.source == "{{ payload.x }}"
    assert "workflow_run.id" in source.thread_key.source
    assert [one.source for one in source.audience] == ["otto"]


def test_design_document_s_example_is_read() -> None:
    """As it stands there."""
    (source,) = read("""
        [hooks.ci]
        agent = "release"
        scheme = "github"
        secret_env = "CI_SECRET"
        message = "{{ payload.workflow_run.name }} failed on {{ payload.repository.full_name }}"
        thread_key = "{{ payload.repository.full_name }}/{{ payload.workflow_run.id }}"
    """)

    assert source.when is None


@pytest.mark.parametrize("page", ["webhooks.md", "parley-toml.md"])
def test_examples_in_the_documentation_can_be_used(page: str) -> None:
    """Whoever copies one has no mistake in it."""
    text = (Path(__file__).parents[4] / "docs" / page).read_text()
    blocks = [textwrap.dedent(one) for one in re.findall(r"(?s)```toml\n(.*?)```", text)]
    plain = dict.fromkeys(("CI_SECRET", "CD_SECRET", "ANYTHING_SECRET"), "s")
    environ = {**plain, "ORDERS_SECRET": "whsec_c2VjcmV0"}
    found = 0
    for block in blocks:
        Path("parley.toml").write_text(block)
        hooks = load_config("").hooks
        agents = {hook.agent for hook in hooks.values() if hook.agent} or {"support"}
        found += len(make_sources(hooks, sorted(agents), environ))

    assert found >= 1


def test_hmac_takes_what_the_operator_describes() -> None:
    """Headers in any case of letters; the usual form of what is signed has the time first."""
    (source,) = read(
        hook('scheme = "hmac"', 'header = "X-Sig"', 'timestamp = "X-Time"', 'encoding = "base64"')
    )

    lock = source.lock
    assert (lock.header, lock.timestamp, lock.encoding) == ("x-sig", "x-time", "base64")
    assert (lock.algorithm, lock.signed) == ("sha256", "{timestamp}.{body}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (hook('secret_env = "GONE"'), "hooks.ci.secret_env: the environment variable GONE is not"),
        (hook('secret_env = "EMPTY"'), "hooks.ci.secret_env: the environment variable EMPTY is"),
        (hook('secret_env = "s3cr3t!"'), "hooks.ci.secret_env: Value error, it names environment"),
        (hook("secret_env = ''"), "hooks.ci.secret_env: Value error, it names environment"),
        ("[hooks.ci]\nmessage='m'", "hooks.ci.secret_env: Field required"),
        (hook('scheme = "rot13"'), "hooks.ci.scheme"),
        (hook('preset = "jira"'), "hooks.ci.preset: there is no 'jira', only: github-ci"),
        (hook("message = ''"), "hooks.ci.message: it is missing, and no preset is named"),
        ('[hooks.ci]\nsecret_env="CI_SECRET"\nmessage="m"', "hooks.ci.scheme: it is missing"),
        (hook('message = "{{ payload."'), "hooks.ci.message: "),
        (hook('message = "{{ paylod.x }}"'), "hooks.ci.message: there is no paylod here"),
        (hook('thread_key = "{{ 2 * 3 }}"'), "hooks.ci.thread_key: Mul is not offered"),
        (hook('when = "payload.x =="'), "hooks.ci.when: "),
        (hook('requester = "{{ x }}"'), "hooks.ci.requester: there is no x here"),
        (hook('audience = ["otto", "{{ y }}"]'), "hooks.ci.audience: there is no y here"),
        (hook('agent = "nobody"'), "hooks.ci.agent: there is no agent 'nobody'; the agents are: "),
        (hook('on_repeat = "forget"'), "hooks.ci.on_repeat"),
        (hook("per_second = -1"), "hooks.ci.per_second: Input should be greater than or equal"),
        (hook('header = "X-Sig"'), "hooks.ci.header: it is for the scheme hmac, not for github"),
        (hook('scheme = "hmac"'), "hooks.ci.header: scheme hmac needs the name"),
        (
            hook('scheme = "hmac"', 'header = "X"', 'signed = "{timestamp}{body}"'),
            "hooks.ci.signed: {timestamp} and the field timestamp belong together",
        ),
        (hook('scheme = "hmac"', 'header = "X"', 'signed = "x"'), "hooks.ci.signed: it must hold"),
        (hook('scheme = "standard"'), "hooks.ci.secret_env: a secret can't be used: it is not"),
        (hook('scheme = "basic"'), "hooks.ci.secret_env: for basic, a secret is NAME:PASSWORD"),
        (hook('color = "red"'), "hooks.ci.color: there is no such setting"),
        (hook().replace("hooks.ci", 'hooks."a/b"'), "a hook's name is part of its address"),
    ],
)
def test_mistake_is_told_by_its_place(text: str, expected: str) -> None:
    """Before anything starts."""
    assert expected in told(text)


def test_all_mistakes_of_all_hooks_are_told_at_once() -> None:
    """Each on a line; and no secret among them."""
    first = hook('message = "{{ x }}"', 'thread_key = "{{ y }}"', 'secret_env = "GONE,CI_SECRET"')
    second = hook('agent = "nobody"', 'when = "z"').replace("hooks.ci", "hooks.cd")

    lines = told(f"{first}\n{second}").splitlines()

    fields = [line.removeprefix("parley.toml: ").partition(": ")[0] for line in lines]
    assert sorted(fields) == [
        "hooks.cd.agent",
        "hooks.cd.when",
        "hooks.ci.message",
        "hooks.ci.secret_env",
        "hooks.ci.thread_key",
    ]
    assert "s1" not in "\n".join(lines)


def test_agent_must_be_named_where_there_are_several() -> None:
    """One that a template names is found out later."""
    assert "hooks.ci.agent: it is missing; the agents are: a, b" in told(hook(), "a", "b")
    assert read(hook('agent = "{{ payload.agent }}"'), "a", "b")
