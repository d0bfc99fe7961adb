"""The recipes' files as their CI reads them: which steps there are, and how each is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml  # type: ignore[import-untyped]

from tests.scenario.pipeline.stage import RECIPES

BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")


def _read(name: str) -> Any:  # noqa: ANN401 (any YAML)
    return yaml.safe_load((RECIPES / name).read_text())


def _github() -> list[str]:
    job = _read("github-actions.yml")["jobs"]["release"]
    return [step["run"] for step in job["steps"] if "run" in step]


def _gitlab() -> list[str]:
    file = _read("gitlab-ci.yml")
    return ["\n".join(file[stage]["script"]) for stage in file["stages"]]


def _jenkins() -> list[str]:
    text = (RECIPES / "Jenkinsfile").read_text()
    # In Groovy's ''' a backslash before a line's end joins the lines, as the shell would.
    return [dedent(step) for step in re.findall(r"sh '''\n(.*?)'''", text, flags=re.DOTALL)]


def _circleci() -> list[str]:
    steps = _read("circleci.yml")["jobs"]["release"]["steps"]
    return [step["run"]["command"] for step in steps if isinstance(step, dict)]


def _buildkite() -> list[str]:
    steps = _read("buildkite.yml")["steps"]
    # The upload of a pipeline makes one dollar sign of two.
    return [step["command"].replace("$$", "$") for step in steps if isinstance(step, dict)]


@dataclass(frozen=True)
class Recipe:
    """One CI."""

    file: str
    steps: Callable[[], list[str]]
    shell: tuple[str, ...]
    environ: Mapping[str, str]
    """What the CI sets by itself."""

    @property
    def path(self) -> Path:
        """Where it stands."""
        return RECIPES / self.file


RECIPE_OF = {
    "github": Recipe(
        "github-actions.yml",
        _github,
        BASH,
        {
            "GITHUB_RUN_ID": "9876543210",
            "GITHUB_RUN_ATTEMPT": "{run}",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_REF_NAME": "v1.2.3",
            "GITHUB_ACTOR": "ann",
        },
    ),
    "gitlab": Recipe(
        "gitlab-ci.yml",
        _gitlab,
        ("sh", "-e", "-c"),
        {
            "CI_JOB_ID": "41{run}",
            "CI_PIPELINE_URL": "https://gitlab.example.com/acme/shop/-/pipelines/7",
            "CI_PROJECT_PATH": "acme/shop",
            "CI_COMMIT_TAG": "v1.2.3",
            "GITLAB_USER_LOGIN": "ann",
        },
    ),
    "jenkins": Recipe(
        "Jenkinsfile",
        _jenkins,
        ("sh", "-xe", "-c"),
        {
            "BUILD_TAG": "jenkins-acme shop-{run}",
            "BUILD_URL": "https://jenkins.example.com/job/acme/7/",
            "JOB_NAME": "acme/shop",
            "TAG_NAME": "v1.2.3",
        },
    ),
    "circleci": Recipe(
        "circleci.yml",
        _circleci,
        ("bash", "-eo", "pipefail", "-c"),
        {
            "CIRCLE_WORKFLOW_JOB_ID": "5f1c-{run}",
            "CIRCLE_BUILD_URL": "https://circleci.com/gh/acme/shop/7",
            "CIRCLE_PROJECT_USERNAME": "acme",
            "CIRCLE_PROJECT_REPONAME": "shop",
            "CIRCLE_TAG": "v1.2.3",
        },
    ),
    "buildkite": Recipe(
        "buildkite.yml",
        _buildkite,
        ("bash", "-e", "-c"),
        {
            "BUILDKITE_JOB_ID": "0191-{run}",
            "BUILDKITE_BUILD_URL": "https://buildkite.com/acme/shop/builds/7",
            "BUILDKITE_PIPELINE_SLUG": "shop",
            "BUILDKITE_TAG": "v1.2.3",
            "BUILDKITE_BUILD_CREATOR": 'Ann O\'Hara "ann"',
        },
    ),
}
