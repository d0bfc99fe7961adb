"""Ready-made sources: which of their events matter, and what an agent is told of them.

The whole of a preset can be overruled, field by field. Text from strangers (a comment, a branch's
name) stands below a line that says so: it is data, and the agent's author may rely on that line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from channels.webhook.schemes import SchemeName


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What an operator need not write."""

    scheme: SchemeName
    when: str
    thread_key: str
    message: str


GITHUB_CI = Preset(
    scheme="github",
    when=(
        "headers.get('x-github-event') == 'workflow_run' and payload.action == 'completed'"
        " and payload.workflow_run.conclusion in ['failure', 'timed_out', 'startup_failure']"
    ),
    thread_key="{{ payload.repository.full_name }}/runs/{{ payload.workflow_run.id }}",
    message="""\
{% set run = payload.workflow_run -%}
The workflow "{{ run.name }}" of {{ payload.repository.full_name }} ended with {{ run.conclusion }}.
Run: {{ run.html_url }} (number {{ run.run_number }}, attempt {{ run.run_attempt|default(1) }})
Branch: {{ run.head_branch }} at {{ run.head_sha[:12] }}, because of {{ run.event }}
By: {{ (run.actor or {}).get('login', 'nobody') }}
{%- if run.head_commit %}
The commit's message, as its author wrote it:
{{ run.head_commit.message }}
{%- endif %}""",
)

GITHUB_REVIEW = Preset(
    scheme="github",
    when="""\
(headers.get('x-github-event') == 'pull_request_review' and payload.action == 'submitted')
or (headers.get('x-github-event') == 'issue_comment' and payload.action == 'created'
    and payload.comment.user.type != 'Bot')
or (headers.get('x-github-event') == 'check_run' and payload.action == 'completed'
    and payload.check_run.conclusion in ['failure', 'timed_out', 'action_required'])""",
    thread_key="""\
{{ payload.repository.full_name }}
{%- if payload.check_run is defined %}@{{ payload.check_run.head_sha }}
{%- else %}#{{ (payload.issue|default(payload.pull_request, true)).number }}{% endif %}""",
    message="""\
{% if payload.review is defined -%}
{{ payload.review.user.login }} has reviewed pull request #{{ payload.pull_request.number }} of \
{{ payload.repository.full_name }} ({{ payload.pull_request.title }}): {{ payload.review.state }}.
{{ payload.review.html_url }}
What they wrote:
{{ payload.review.body or '(nothing)' }}
{%- elif payload.check_run is defined -%}
The check "{{ payload.check_run.name }}" of {{ payload.repository.full_name }} ended with \
{{ payload.check_run.conclusion }} at {{ payload.check_run.head_sha[:12] }}.
{{ payload.check_run.html_url }}
{{ payload.check_run.output.title or '' }}
{{ payload.check_run.output.summary or '' }}
{%- else -%}
{{ payload.comment.user.login }} has commented on #{{ payload.issue.number }} of \
{{ payload.repository.full_name }} ({{ payload.issue.title }}).
{{ payload.comment.html_url }}
What they wrote:
{{ payload.comment.body }}
{%- endif %}""",
)

GITLAB_CI = Preset(
    scheme="gitlab",
    when="payload.object_kind == 'pipeline' and payload.object_attributes.status == 'failed'",
    thread_key=(
        "{{ payload.project.path_with_namespace }}/pipelines/{{ payload.object_attributes.id }}"
    ),
    message="""\
{% set run = payload.object_attributes -%}
Pipeline {{ run.id }} of {{ payload.project.path_with_namespace }} failed.
{{ run.url|default(payload.project.web_url) }}
Branch or tag: {{ run.ref }} at {{ run.sha[:12] }}, because of {{ run.source }}
By: {{ payload.user.username }}
Jobs that failed: {{ payload.builds|selectattr('status', 'equalto', 'failed')\
|map(attribute='name')|join(', ') or 'none is named' }}
{%- if payload.commit %}
The commit's message, as its author wrote it:
{{ payload.commit.message }}
{%- endif %}""",
)

GITLAB_NOTES = Preset(
    scheme="gitlab",
    when="payload.object_kind == 'note' and not payload.object_attributes.system",
    thread_key="""\
{{ payload.project.path_with_namespace }}
{%- if payload.merge_request is defined %}!{{ payload.merge_request.iid }}
{%- elif payload.issue is defined %}#{{ payload.issue.iid }}
{%- elif payload.commit is defined %}@{{ payload.commit.id }}
{%- else %}${{ payload.snippet.id }}{% endif %}""",
    message="""\
{{ payload.user.username }} has commented in {{ payload.project.path_with_namespace }}
{%- if payload.merge_request is defined %} on merge request !{{ payload.merge_request.iid }} \
({{ payload.merge_request.title }})
{%- elif payload.issue is defined %} on issue #{{ payload.issue.iid }} ({{ payload.issue.title }})
{%- endif %}.
{{ payload.object_attributes.url }}
What they wrote:
{{ payload.object_attributes.note }}""",
)

CIRCLECI = Preset(
    scheme="circleci",
    when="""\
payload.type in ['workflow-completed', 'job-completed']
and (payload.job if payload.type == 'job-completed' else payload.workflow).status in
    ['failed', 'error']""",
    thread_key="{{ payload.project.slug }}/workflows/{{ payload.workflow.id }}",
    message="""\
{% if payload.type == 'job-completed' -%}
The job "{{ payload.job.name }}" (number {{ payload.job.number }}) of the workflow \
"{{ payload.workflow.name }}" of {{ payload.project.slug }}: {{ payload.job.status }}.
{%- else -%}
The workflow "{{ payload.workflow.name }}" of {{ payload.project.slug }}: \
{{ payload.workflow.status }}.
{%- endif %}
{{ payload.workflow.url }}
Pipeline: number {{ payload.pipeline.number }}
{%- if payload.pipeline.vcs is defined %}
{%- set vcs = payload.pipeline.vcs %}
Branch: {{ vcs.branch|default('none') }} at {{ vcs.revision[:12] }}
The commit's message, as its author wrote it:
{{ (vcs.commit|default({})).get('subject', '(none)') }}
{%- endif %}""",
)

BUILDKITE = Preset(
    scheme="buildkite",
    when="payload.event == 'build.finished' and payload.build.state == 'failed'",
    thread_key="{{ payload.pipeline.slug }}/builds/{{ payload.build.number }}",
    message="""\
Build {{ payload.build.number }} of {{ payload.pipeline.name }} failed.
{{ payload.build.web_url }}
Branch: {{ payload.build.branch }} at {{ payload.build.commit[:12] }}
By: {{ (payload.build.creator or {}).get('name', 'nobody') }}
The commit's message, as its author wrote it:
{{ payload.build.message or '(none)' }}""",
)

JENKINS = Preset(
    scheme="basic",
    # The plugin Notification also tells of COMPLETED, a moment earlier: once is enough.
    when=("payload.build.phase == 'FINALIZED' and payload.build.status in ['FAILURE', 'UNSTABLE']"),
    thread_key="{{ payload.name }}/{{ payload.build.number }}",
    message="""\
{{ payload.display_name|default(payload.name) }}, build {{ payload.build.number }}: \
{{ payload.build.status }}.
{{ payload.build.full_url|default(payload.build.url) }}
{%- if payload.build.scm is defined %}
Branch: {{ payload.build.scm.branch|default('unknown') }} at \
{{ payload.build.scm.commit|default('unknown') }}
{%- endif %}
{%- if payload.build.notes %}
Notes, as they were written:
{{ payload.build.notes }}
{%- endif %}""",
)

PRESETS: Mapping[str, Preset] = {
    "github-ci": GITHUB_CI,
    "github-review": GITHUB_REVIEW,
    "gitlab-ci": GITLAB_CI,
    "gitlab-notes": GITLAB_NOTES,
    "circleci": CIRCLECI,
    "buildkite": BUILDKITE,
    "jenkins": JENKINS,
}
