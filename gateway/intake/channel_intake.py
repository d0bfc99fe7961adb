"""Intake for channels: who may, which thread, has it been taken before; then one commit.

Everything that a channel parses comes through `receive`. It is durable when that returns, and a
second copy has no second effect. Refusals are words for the one who wrote; a forbidden or late
answer also stays in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from agent_core.errors import Refused, WrongShape
from agent_core.loop.world import World
from channels.channel import Channel
from channels.inbound import Command, Decision, Edit, Inbound, Message, Stop, Undelivered
from channels.intake import Received
from gateway.control.local import LocalGateway
from gateway.intake.conversing import Conversing
from gateway.intake.entitlement import Stranger
from gateway.intake.orders import Orders
from gateway.intake.returns import Returns
from gateway.intake.rulings import Rulings
from gateway.intake.taking import Taking
from gateway.people.directory import Directory
from gateway.telemetry.figures import Figures
from storage.store import Store


class ChannelIntake:
    """The way in for every channel."""

    def __init__(
        self,
        gateway: LocalGateway,
        store: Store,
        people: Directory,
        routes: Mapping[str, str],
        *,
        channels: Mapping[str, Channel] | None = None,
        world: World | None = None,
        figures: Figures | None = None,
    ) -> None:
        """Take `routes`: which agent begins a thread, by the channel's name."""
        world = world or World()
        taking = Taking(gateway, world)
        self._rulings = Rulings(gateway, store, people, taking)
        self._conversing = Conversing(
            gateway, store, people, routes, taking=taking, rulings=self._rulings
        )
        self._orders = Orders(gateway, store, people, world)
        self._returns = Returns(store, channels or {}, people, world, figures)

    async def receive(self, inbound: Inbound) -> Received:
        """Take it, once; see `channels.intake.Intake`."""
        if inbound.actor.is_bot:
            return Received(effect="ignored", words="")
        try:
            match inbound:
                case Message():
                    return await self._conversing.hear(inbound)
                case Edit():
                    return await self._conversing.correct(inbound)
                case Decision():
                    return await self._rulings.rule(inbound)
                case Command():
                    return await self._orders.carry_out(inbound)
                case Stop():
                    return await self._orders.stop(inbound)
                case Undelivered():
                    return await self._returns.take_back(inbound)
                case never:
                    assert_never(never)
        except Refused as exc:
            return Received(
                effect="refused",
                words=str(exc),
                is_shape=isinstance(exc, WrongShape),
                is_stranger=isinstance(exc, Stranger),
            )
