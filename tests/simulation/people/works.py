"""The gateway's real parts on one store, driven by hand: nothing runs unless told to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

from agent_core import (
    Agent,
    HandDrivenWorld,
    ModelReply,
    ModelRequest,
    ScriptedModel,
    Tool,
    ToolContext,
    call,
    calls,
    says,
    tool,
)
from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis, ThreadId
from channels.channel import ChannelError, GiveUp, Sent, TryLater
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from gateway.control.local import LocalGateway
from gateway.intake.channel_intake import ChannelIntake
from gateway.outbox.posting import Posting
from gateway.outbox.rerouting import Rerouting
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.journal import StoreJournal
from gateway.work.turn import Turns
from storage.memory import MemoryStore
from storage.values import Delivery, DeliveryEnd, DeliveryStatus
from tests.simulation.people.city import City, Rule

_LEASE_MS = 60_000
_AT_ONCE = 50


class Post(Notebook):
    """A channel that sometimes fails, and tells who gets what."""

    def __init__(
        self, name: str, chance: Random, arrives: Callable[[Outgoing], Awaitable[None]]
    ) -> None:
        """Know whom to tell."""
        super().__init__(name=name)
        self._chance = chance
        self._arrives = arrives

    async def send(self, message: Outgoing) -> Sent:
        """Deliver it, or fail."""
        luck = self._chance.random()
        if luck < 0.02:
            raise GiveUp("nobody lives here")
        if luck < 0.06:
            raise TryLater("not just now")
        await self._arrives(message)
        return Sent(receipt={"id": message.id})

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Show it."""


class Works:
    """A gateway, a worker and a sender, without a task of their own."""

    def __init__(
        self, city: City, chance: Random, arrives: Callable[[Outgoing], Awaitable[None]]
    ) -> None:
        """Put the parts together."""
        self.clock = HandDrivenWorld()
        self.store = MemoryStore()
        self.people = Directory([one.person() for one in city.people])
        self.channels = {name: Post(name, chance, arrives) for name in ("slack", "email")}
        self.ran: list[tuple[str, str, int]] = []
        """What the tools did: thread, call, number."""
        tools = [self._tool(rule) for rule in city.rules]
        model = ScriptedModel(_reply)
        agent = Agent("agent", tools=tools, model=model, world=self.clock.world)
        self.agents = {agent.name: agent}
        self.restart()

    def _tool(self, rule: Rule) -> Tool:
        @tool(
            name=rule.name,
            approval=True,
            approvers=rule.approvers,
            quorum=rule.policy.quorum,
            not_requester=rule.policy.not_requester,
            veto=rule.policy.veto,
            waiting=rule.waiting,
        )
        async def act(ctx: ToolContext, number: int) -> str:
            """Do it."""
            self.ran.append((ctx.thread.id, ctx.call, number))
            return f"did {number}"

        return act

    def restart(self) -> None:
        """Begin again with what the store has: all that was remembered is gone."""
        self.nearby = Nearby()
        world, hints = self.clock.world, Hints(self.store)
        self.routing = Routing(self.people, self.channels)
        self.gateway = LocalGateway(
            self.store, self.agents, hints, world=world, nearby=self.nearby, routing=self.routing
        )
        self.intake = ChannelIntake(
            self.gateway, self.store, self.people, {"slack": "agent", "email": "agent"}, world=world
        )
        self._turns = Turns(self.store, self.agents, world, self.nearby, {})
        self._posting = Posting(self.store, self.channels, self.people)
        self._rerouting = Rerouting(self.store, self.channels, self.people)

    @property
    def now(self) -> Millis:
        """What the clock says."""
        return self.clock.moment

    async def work(self) -> list[ThreadId]:
        """Bring every thread to rest that is due; gives which."""
        worked: list[ThreadId] = []
        while claims := await self.store.claim(now=self.now, lease_ms=_LEASE_MS, limit=_AT_ONCE):
            for claim in claims:
                known = await self._turns.read(claim)
                assert known is not None
                journal = StoreJournal(
                    *(self.store, known, claim.epoch, self.clock.world.now, self.nearby),
                    routing=self.routing,
                )
                await self._turns.bring_to_rest(claim, journal)
                worked.append(claim.thread)
        return worked

    async def send(self) -> None:
        """Send all that is due."""
        while due := await self.store.claim_deliveries(
            now=self.now, lease_ms=_LEASE_MS, limit=_AT_ONCE
        ):
            for delivery in due:
                await self.store.end_deliveries([await self._sent(delivery)])

    async def _sent(self, delivery: Delivery) -> DeliveryEnd:
        try:
            posted = await self._posting.send(delivery)
        except TryLater as exc:
            later = Millis(self.now + 60_000)
            return DeliveryEnd(delivery=delivery, status="pending", due_at=later, error=str(exc))
        except ChannelError as exc:
            await self._rerouting.reroute(delivery, self.now)
            return DeliveryEnd(delivery=delivery, status="failed", error=str(exc))
        status: DeliveryStatus = "settled" if posted.is_settled else "sent"
        receipt, place = posted.sent.receipt, posted.sent.place
        return DeliveryEnd(delivery=delivery, status=status, receipt=receipt, place=place)


def _reply(request: ModelRequest) -> ModelReply:
    """Do what was asked for as `act 3 7; act 5 2`; to everything else, be done."""
    last = request.messages[-1]
    if last["role"] != "user" or "act" not in str(last["content"]):
        return says("done")
    orders = [part.split()[-2:] for part in str(last["content"]).split(";")]
    return calls(*(call(f"act_{which}", number=int(number)) for which, number in orders))
