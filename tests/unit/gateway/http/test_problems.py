"""Problems: every error that the gateway raises has its kind, and ours says nothing of itself."""

from __future__ import annotations

import pytest

from agent_core import errors as core
from agent_core.errors import ParleyError
from gateway.control import service
from gateway.http import problems
from gateway.http.problems import INTERNAL, Kind, problem_of, slow_down
from storage import errors as store

TABLE: list[tuple[Exception, int, str]] = [
    (service.NotFound("no thread"), 404, "not-found"),
    (service.IdempotencyConflict("other body"), 409, "idempotency-conflict"),
    (service.AlreadyHere("th_1 is here"), 409, "already-here"),
    (service.TooBusy("full", retry_after=5), 429, "too-busy"),
    (core.UnknownQuestion("no"), 404, "not-found"),
    (core.AmbiguousAnswer("which"), 409, "refused"),
    (core.WrongShape("please choose"), 422, "wrong-shape"),
    (core.AlreadySettled("by otto"), 409, "already-settled"),
    (core.OpenQuestions("q_1"), 409, "refused"),
    (core.WrongStatus("is cancelled"), 409, "wrong-status"),
    (core.NotJson("body.x", "NUL"), 422, "invalid"),
    (core.CheckpointMalformed("cut off"), 422, "bad-checkpoint"),
    (core.CheckpointTooNew("v9"), 422, "bad-checkpoint"),
    (store.BadCursor("no"), 422, "bad-cursor"),
    (store.UnknownThread("no"), 404, "not-found"),
    (store.ThreadKeyTaken("taken"), 409, "already-here"),
    (store.PlaceTaken("taken"), 409, "already-here"),
    (store.StoreBusy("locked", retry_after=2), 503, "store-busy"),
    (store.StoreUnreachable("no connection"), 503, "unavailable"),
    (store.StoreReadOnly("read-only"), 503, "unavailable"),
    (store.StoreFull("disk"), 507, "store-full"),
    (ZeroDivisionError("our bug"), 500, "internal"),
    (core.ImpossibleEvent("our bug"), 500, "internal"),
]


@pytest.mark.parametrize(("error", "status", "name"), TABLE, ids=lambda one: str(one)[:30])
def test_each_error_has_its_status_and_type(error: Exception, status: int, name: str) -> None:
    """The type is what programs rely on; it never changes."""
    body = problem_of(error).body("req_1")

    assert (body["status"], body["type"], body["instance"]) == (
        status,
        f"/problems/{name}",
        "req_1",
    )
    assert body["title"]
    assert body["detail"]


def test_every_error_of_the_gateway_and_the_stores_is_foreseen() -> None:
    """A new error class without a kind of its own or of its family's would be a 500."""
    theirs = {
        one
        for module in (service, store)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, ParleyError) and one is not ParleyError
    }

    assert not {one for one in theirs if not set(one.__mro__) & problems.ERRORS.keys()}


def test_what_went_wrong_inside_is_not_told() -> None:
    """Neither our bugs nor the operator's database speak to strangers."""
    for error in (
        ZeroDivisionError("secret"),
        store.StoreFull("secret"),
        store.StoreBusy("secret"),
    ):
        assert "secret" not in str(problem_of(error).body("req_1"))


def test_whoever_should_come_back_is_told_when() -> None:
    """In whole seconds, at least one."""
    assert problem_of(store.StoreBusy("x", retry_after=1.2)).headers == {"Retry-After": "2"}
    assert problem_of(service.TooBusy("x", retry_after=0)).headers == {"Retry-After": "1"}
    assert problem_of(store.StoreUnreachable("x")).headers == {"Retry-After": "1"}
    assert slow_down(INTERNAL, "", 0.01).headers == {"Retry-After": "1"}
    assert problem_of(store.StoreFull("x")).headers == {}


def test_names_of_kinds_are_unique() -> None:
    """One type, one meaning."""
    kinds = [one for one in vars(problems).values() if isinstance(one, Kind)]

    assert len({kind.name for kind in kinds}) == len(kinds)
