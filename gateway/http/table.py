"""Every call of the control API, in one table.

Routing and `/openapi.json` are both made from it, so what is not here is neither served nor
promised. A key with `answer` may also look at the questions that it can answer.
"""

from __future__ import annotations

from gateway.http import halt, questions, service_pages, threads
from gateway.http.meters import CONTENT_TYPE as METRICS
from gateway.http.queries import (
    EventsQuery,
    ExportQuery,
    Query,
    QuestionsQuery,
    ThreadsQuery,
    WaitQuery,
)
from gateway.http.routes import AnyRoute, NoBody, RawBody, Route
from gateway.http.streams import CONTENT_TYPE as STREAM
from gateway.views import (
    Answer,
    EventList,
    Fork,
    Halt,
    HaltView,
    Launch,
    Message,
    QuestionList,
    QuestionView,
    Reason,
    Resume,
    ThreadList,
    ThreadView,
)

THREADS: list[AnyRoute] = [
    Route(
        method="POST",
        path="/v1/threads",
        summary="Launch a thread, or say something to the one with that thread_key",
        run=threads.launch,
        query=WaitQuery,
        body=Launch,
        body_needed=True,
        gives=ThreadView,
        scopes=("launch",),
        status=(201, 200),
        problems=(404, 409),
        idempotent_by_key=True,
    ),
    Route(
        method="GET",
        path="/v1/threads",
        summary="List threads, newest first",
        run=threads.listing,
        query=ThreadsQuery,
        body=NoBody,
        gives=ThreadList,
        scopes=("read",),
    ),
    Route(
        method="POST",
        path="/v1/threads/import",
        summary="Take over a thread that was exported elsewhere",
        run=threads.take_over,
        query=Query,
        body=RawBody,
        body_needed=True,
        gives=ThreadView,
        scopes=("admin",),
        status=(201,),
        problems=(409,),
    ),
    Route(
        method="GET",
        path="/v1/threads/{thread}",
        summary="Show a thread: status, open questions, result, usage",
        run=threads.one,
        query=WaitQuery,
        body=NoBody,
        gives=ThreadView,
        scopes=("read",),
    ),
    Route(
        method="GET",
        path="/v1/threads/{thread}/events",
        summary="Read the log; as text/event-stream it goes on live",
        run=threads.events,
        query=EventsQuery,
        body=NoBody,
        gives=EventList,
        scopes=("read",),
        content_types=("application/json", STREAM),
        reads_last_event_id=True,
    ),
    Route(
        method="GET",
        path="/v1/threads/{thread}/export",
        summary="Write a whole thread, to be imported elsewhere or to be read",
        run=threads.export,
        query=ExportQuery,
        body=NoBody,
        gives=None,
        scopes=("read",),
        content_types=("application/json", "text/markdown"),
    ),
]

CONTROL: list[AnyRoute] = [
    Route(
        method="POST",
        path="/v1/threads/{thread}/messages",
        summary="Say something more",
        run=threads.say,
        query=Query,
        body=Message,
        body_needed=True,
        gives=ThreadView,
        scopes=("launch",),
        problems=(409,),
        idempotent_by_key=True,
    ),
    Route(
        method="POST",
        path="/v1/threads/{thread}/pause",
        summary="Hold a thread where it is",
        run=threads.pause,
        query=Query,
        body=Reason,
        gives=ThreadView,
        scopes=("control",),
        problems=(409,),
    ),
    Route(
        method="POST",
        path="/v1/threads/{thread}/resume",
        summary="Let a paused thread go on, perhaps with an instruction",
        run=threads.resume,
        query=Query,
        body=Resume,
        gives=ThreadView,
        scopes=("control",),
        problems=(409,),
    ),
    Route(
        method="POST",
        path="/v1/threads/{thread}/cancel",
        summary="Stop a thread for good",
        run=threads.cancel,
        query=Query,
        body=Reason,
        gives=ThreadView,
        scopes=("control",),
        problems=(409,),
    ),
    Route(
        method="POST",
        path="/v1/threads/{thread}/retry",
        summary="Let a failed thread try again from where it stood",
        run=threads.retry,
        query=Query,
        body=NoBody,
        gives=ThreadView,
        scopes=("control",),
        problems=(409,),
    ),
    Route(
        method="POST",
        path="/v1/threads/{thread}/fork",
        summary="Copy a thread up to an event, under a new id",
        run=threads.fork,
        query=Query,
        body=Fork,
        gives=ThreadView,
        scopes=("control",),
        status=(201,),
        problems=(409,),
    ),
]

QUESTIONS: list[AnyRoute] = [
    Route(
        method="GET",
        path="/v1/questions",
        summary="List questions, oldest first: with status=open, the approval queue",
        run=questions.listing,
        query=QuestionsQuery,
        body=NoBody,
        gives=QuestionList,
        scopes=("read", "answer"),
    ),
    Route(
        method="GET",
        path="/v1/questions/{question}",
        summary="Show a question, and what became of it",
        run=questions.one,
        query=Query,
        body=NoBody,
        gives=QuestionView,
        scopes=("read", "answer"),
    ),
    Route(
        method="POST",
        path="/v1/questions/{question}/answer",
        summary="Answer a question; the first valid answer wins",
        run=questions.answer,
        query=Query,
        body=Answer,
        body_needed=True,
        gives=QuestionView,
        scopes=("answer",),
        problems=(409, 410),
    ),
]

HALT: list[AnyRoute] = [
    Route(
        method="GET",
        path="/v1/halt",
        summary="Tell whether the kill switch is pulled",
        run=halt.show,
        query=Query,
        body=NoBody,
        gives=HaltView,
        scopes=("read", "control"),
    ),
    Route(
        method="PUT",
        path="/v1/halt",
        summary="Pull the kill switch: no model or tool is called anywhere until it is lifted",
        run=halt.pull,
        query=Query,
        body=Halt,
        body_needed=True,
        gives=HaltView,
        scopes=("control",),
    ),
    Route(
        method="DELETE",
        path="/v1/halt",
        summary="Lift the kill switch",
        run=halt.lift,
        query=Query,
        body=NoBody,
        gives=HaltView,
        scopes=("control",),
        problems=(507,),
    ),
]

SERVICE_PAGES: list[AnyRoute] = [
    Route(
        method="GET",
        path="/healthz",
        summary="The process answers",
        run=service_pages.healthz,
        query=Query,
        body=NoBody,
        gives=service_pages.Health,
    ),
    Route(
        method="GET",
        path="/readyz",
        summary="Requests can be served",
        run=service_pages.readyz,
        query=Query,
        body=NoBody,
        gives=service_pages.Health,
        problems=(503,),
    ),
    Route(
        method="GET",
        path="/metrics",
        summary="Figures for Prometheus",
        run=service_pages.metrics,
        query=Query,
        body=NoBody,
        gives=None,
        content_types=(METRICS.partition(";")[0],),
    ),
]


def routes(*, metrics: bool) -> list[AnyRoute]:
    """Give the table; without `/metrics` where it is turned off."""
    table = [*THREADS, *CONTROL, *QUESTIONS, *HALT, *SERVICE_PAGES]
    return [route for route in table if metrics or route.path != "/metrics"]
