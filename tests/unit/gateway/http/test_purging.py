"""DELETE of a thread: by an admin, when it is over, and for good."""

from __future__ import annotations

from tests.contract.stores.test_retention import sent
from tests.unit.gateway.http.house import House, house


async def finished(opened: House) -> str:
    """Give a thread that is over, of which people have heard."""
    thread = await opened.launch("hello")
    assert thread["status"] == "finished"
    await sent(opened.store)
    return str(thread["id"])


async def test_thread_that_is_over_is_deleted_for_good() -> None:
    """It is gone for who asks next, and who comes back to it is told so, not served an error."""
    async with house() as opened:
        thread = await finished(opened)

        gone = await opened.call("DELETE", f"/v1/threads/{thread}")
        again = await opened.call("DELETE", f"/v1/threads/{thread}")
        looked = await opened.call("GET", f"/v1/threads/{thread}")
        said = await opened.call("POST", f"/v1/threads/{thread}/messages", {"text": "hello?"})

        assert (gone.status, gone.json) == (200, {"id": thread, "purged": True})
        assert [one.status for one in (again, looked, said)] == [404, 404, 404]
        stone = await opened.store.retention().tombstone(thread)  # type: ignore[arg-type]  # an id
        assert stone is not None
        assert stone.by == "api key admin"


async def test_thread_that_is_not_over_stays() -> None:
    """The refusal says how it stands; so it does while something is still to be sent."""
    async with house() as opened:
        waiting = await opened.launch("refund please")
        unsent = await opened.launch("hello")

        refused = await opened.call("DELETE", f"/v1/threads/{waiting['id']}")
        early = await opened.call("DELETE", f"/v1/threads/{unsent['id']}")

        assert (refused.status, refused.json["thread_status"]) == (409, "waiting")
        assert (early.status, early.json["thread_status"]) == (409, "finished")
        assert "to be sent" in early.json["detail"]


async def test_only_an_admin_deletes() -> None:
    """Who may steer a thread may not delete it."""
    async with house() as opened:
        thread = await finished(opened)

        tried = await opened.call("DELETE", f"/v1/threads/{thread}", key="control")

        assert tried.status == 403
