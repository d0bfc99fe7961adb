"""What channels serve: their own limit on bodies, where they have one."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import pytest
from structlog.testing import capture_logs

from channels.channel import Capabilities
from channels.notebook import Notebook
from channels.web_routes import WebHandler, WebRequest, WebResponse
from gateway.http.app import make_app, run_app
from gateway.http.channel_routes import mount
from gateway.http.options import HttpOptions
from tests.unit.gateway.http.house import house


class Scales(Notebook):
    """A channel that weighs what it is given."""

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve routes of its own, and one that people know by another name."""
        return {
            ("POST", "/notebook/weigh"): self._weigh,
            ("POST", "/n/weigh"): self._weigh,
            ("GET", "/notebook/{token}"): self._weigh,
        }

    async def _weigh(self, request: WebRequest) -> WebResponse:
        return WebResponse(body=str(len(request.body)).encode())


@pytest.mark.parametrize(("largest", "status"), [(0, 413), (5_000, 200), (1, 413)])
async def test_channel_may_take_larger_bodies_than_usual(largest: int, status: int) -> None:
    """A mail is larger than a call; and the usual limit is never lowered by it."""
    options = HttpOptions(max_body=1_000)
    channel = Scales()
    channel.capabilities = Capabilities(largest_body=largest)
    async with house(options, works=False) as opened, aiohttp.ClientSession() as session:
        app = make_app(opened.gateway, opened.store, options)
        mount(app, [channel], options)
        runner = await run_app(app, "127.0.0.1", 0)
        try:
            url = f"http://127.0.0.1:{runner.addresses[0][1]}/notebook/weigh"
            async with session.post(url, data=b"x" * 2_000) as large:
                weighed = await large.text()
            async with session.post(url, data=b"x" * 1_000) as usual:
                assert usual.status == 200
            async with session.post(url.replace("notebook", "n"), data=b"x" * 2_000) as short:
                assert short.status == 413
        finally:
            await runner.cleanup()

    assert large.status == status
    assert (weighed == "2000") == (status == 200)


async def test_what_stands_in_a_channels_path_is_not_logged() -> None:
    """The token of a link in a mail is a key: whoever reads the log must not be able to answer."""
    options = HttpOptions()
    async with house(options, works=False) as opened, aiohttp.ClientSession() as session:
        app = make_app(opened.gateway, opened.store, options)
        mount(app, [Scales()], options)
        runner = await run_app(app, "127.0.0.1", 0)
        try:
            with capture_logs() as lines:
                url = f"http://127.0.0.1:{runner.addresses[0][1]}/notebook/s3cret"
                async with session.get(url) as answer:
                    assert answer.status == 200
        finally:
            await runner.cleanup()

    assert [line["route"] for line in lines] == ["/notebook/{token}"]
    assert "s3cret" not in str(lines)
