"""With a model server set, the playground's agents talk to it, and the page says so."""

from __future__ import annotations

from gateway.playground.page import render
from gateway.playground.premises import CHANNEL
from gateway.playground.stage import stage
from tests.doubles.openai_server import openai_server, stream, text


async def test_model_server_takes_the_place_of_the_script() -> None:
    """Any compatible server will do, without a key."""
    async with openai_server(stream(text("Hello from a real model.", finish="stop"))) as server:
        model = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "tiny-1"}
        async with stage(model=model) as made:
            await made.until(lambda scene: scene.is_up or None)
            await made.mention("hello")
            said = await made.until(lambda scene: [one for one in scene.threads if one.is_over])
            page = render(made)
            root = made.team.messages(CHANNEL)[0]

    assert said[0].thread["result"] == "Hello from a real model."
    assert server.requests[0].body["model"] == "tiny-1"
    assert "The agents talk to <b>tiny-1</b>" in page
    assert "a script" not in page
    assert root.text.endswith("hello")
