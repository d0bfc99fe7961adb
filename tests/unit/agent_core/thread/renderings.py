"""The sample checkpoints, and what they look like to a person and to a model.

    python -m tests.unit.agent_core.thread.renderings

writes the renderings beside the samples anew, for a change of words that is meant. The samples
themselves are never written again: they stand for threads that wait since an earlier day.
"""

from __future__ import annotations

import json
from pathlib import Path

from agent_core.context.chat import render_chat
from agent_core.context.markdown import thread_as_markdown
from agent_core.thread.checkpoint import Log

FOLDER = Path(__file__).parents[3] / "payloads" / "checkpoints"
SAMPLES = sorted(set(FOLDER.glob("*.json")) - set(FOLDER.glob("*.chat.json")))


def renderings(sample: Path) -> dict[Path, str]:
    """Render a sample: which file should hold what."""
    log, state = Log.read(sample.read_bytes())
    messages = render_chat(state, "Be kind.")
    return {
        sample.with_suffix(".md"): thread_as_markdown(log.events),
        sample.with_suffix(".chat.json"): json.dumps(messages, indent=1) + "\n",
    }


if __name__ == "__main__":
    for one in SAMPLES:
        for path, text in renderings(one).items():
            path.write_text(text, encoding="utf-8")
