"""What people click, fill in and type as commands.

Each waits for the app's answer. What the app didn't take is not sent again: with Slack, the person
sees that it failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from channels.slack.double.acting import Acting, Place
from channels.slack.double.api.views import fill, pushed
from channels.slack.double.blocks import elements
from channels.slack.double.delivery import Delivery
from channels.slack.double.forms import filled, initial_values, state_of
from channels.slack.double.payloads import interactions
from channels.slack.double.payloads.interactions import Occasion
from channels.slack.double.records import Channel, Message, Payload, View


class AppDidNotAnswer(Exception):
    """The app didn't take an interaction: Slack would tell the person to try again."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(f"{delivery.payload.get('type')}: {delivery.last.failure}")
        self.delivery = delivery


class Clicking(Acting):
    """People who use what the app shows."""

    async def clicks(
        self,
        user: str,
        message: Message | str,
        action_id: str,
        *,
        channel: Place | None = None,
        block_id: str | None = None,
        value: object = None,
        stale: bool = False,
    ) -> Delivery:
        """Click a button, or choose `value` in a menu. `stale`: on a screen that is behind.

        Without `block_id` it is the first of that name.
        """
        found = message if isinstance(message, Message) else self._seen(user, message, channel)
        versions = [found.blocks, *(reversed(found.past_blocks) if stale else [])]
        for blocks in versions:
            action = self._action(blocks, action_id, block_id, value)
            if action is None:
                continue
            occasion = self._occasion(user, found.channel, found)
            values = initial_values(blocks)
            payload = interactions.message_action(
                occasion, message=found, action=action, values=values
            )
            return await self._world.courier.send("interactive", payload)
        raise LookupError(f"message {found.ts} shows nothing called {action_id}")

    async def clicks_view(
        self,
        user: str,
        action_id: str,
        *,
        view: View | None = None,
        block_id: str | None = None,
        value: object = None,
    ) -> Delivery:
        """Click in the open modal, or in another view: the home tab is `team.home(user)`."""
        shown_view = view or self._top(user)
        action = self._action(shown_view.blocks, action_id, block_id, value)
        if action is None:
            raise LookupError(f"view {shown_view.id} shows nothing called {action_id}")
        payload = interactions.view_action(self._occasion(user), view=shown_view, action=action)
        return await self._world.courier.send("interactive", payload)

    async def submits(self, user: str, values: Mapping[str, Any] | None = None) -> Payload:
        """Fill in the open modal and send it off; what the app answers is done, and given back."""
        view = self._top(user)
        view.values = filled(view, values or {})
        view.errors = {}
        payload = interactions.view_submission(self._occasion(user), view=view)
        delivery = await self._world.courier.send("interactive", payload)
        if not delivery.acked:
            raise AppDidNotAnswer(delivery)
        self._apply(user, view, delivery.response)
        self._world.changes.notify()
        return delivery.response

    def _apply(self, user: str, view: View, answer: Payload) -> None:
        stack = self._team.modals[user]
        match answer.get("response_action"):
            case "errors":
                inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
                if not answer["errors"].keys() <= inputs:
                    raise ValueError(f"errors for no input: {answer['errors']}")
                view.errors = dict(answer["errors"])
            case "update":
                fill(self._world, self._team, view, answer["view"])
            case "push":
                pushed(self._world, self._team, user, answer["view"])
            case "clear":
                stack.clear()
            case None:
                stack.remove(view)
            case other:
                raise ValueError(f"Slack knows no response_action {other!r}")

    async def closes_view(self, user: str, *, all_of_them: bool = False) -> Delivery | None:
        """Close the open modal; the app is told if it asked for that."""
        view = self._top(user)
        stack = self._team.modals[user]
        if all_of_them or view.clear_on_close:
            stack.clear()
        else:
            stack.remove(view)
        if not view.notify_on_close:
            return None
        occasion = self._occasion(user)
        payload = interactions.view_closed(occasion, view=view, is_cleared=all_of_them)
        return await self._world.courier.send("interactive", payload)

    async def command(self, user: str, channel: Place, name: str, text: str = "") -> Delivery:
        """Type a slash command; what the app answers at once is shown to this person alone."""
        place = self._place(channel)
        payload = interactions.command(
            self._occasion(user, place.id), channel=place, name=name, text=text
        )
        delivery = await self._world.courier.send("slash_commands", payload)
        if delivery.acked and (delivery.response.get("text") or delivery.response.get("blocks")):
            self._answer(user, place, delivery.response)
        return delivery

    def _answer(self, user: str, place: Channel, answer: Payload) -> None:
        bot = self._team.bot
        self._team.keep(
            Message(
                team=self._team.id,
                channel=place.id,
                ts=self._team.stamps.ts(),
                text=answer.get("text", ""),
                blocks=answer.get("blocks", []),
                user=bot.user,
                bot_id=bot.bot_id,
                app_id=bot.app_id,
                ephemeral_to=None if answer.get("response_type") == "in_channel" else user,
            )
        )

    async def shortcut(self, user: str, message: Message | None, callback_id: str) -> Delivery:
        """Use a shortcut: on a message, or a global one."""
        if message is None:
            payload = interactions.global_shortcut(self._occasion(user), callback_id=callback_id)
        else:
            occasion = self._occasion(user, message.channel, message)
            payload = interactions.message_shortcut(
                occasion, message=message, callback_id=callback_id
            )
        return await self._world.courier.send("interactive", payload)

    def _seen(self, user: str, ts: str, channel: Place | None) -> Message:
        places = [self._place(channel)] if channel else list(self._team.channels.values())
        for place in places:
            private = [m for m in place.ephemerals if m.ts == ts and m.ephemeral_to == user]
            if ts in place.messages or private:
                return place.messages.get(ts) or private[0]
        raise LookupError(f"{user} sees no message {ts}")

    def _top(self, user: str) -> View:
        stack = self._team.modals.get(user)
        if not stack:
            raise LookupError(f"no modal is open for {user}")
        return stack[-1]

    def _occasion(
        self, user: str, channel: str | None = None, message: Message | None = None
    ) -> Occasion:
        triggers, team = self._world.triggers, self._team
        url = ""
        if channel is not None:
            secret = triggers.hook(team_id=team.id, user=user, channel=channel, message=message)
            url = self._world.response_url(secret)
        trigger = triggers.trigger(team_id=team.id, user=user)
        return Occasion(team=team, user=self._person(user), trigger_id=trigger, response_url=url)

    def _action(
        self, blocks: list[Payload], action_id: str, block_id: str | None, value: object
    ) -> Payload | None:
        for block in blocks:
            for element in elements(block):
                is_meant = block_id in (None, block["block_id"])
                if element.get("action_id") == action_id and is_meant:
                    return self._acted(block, element, value)
        return None

    def _acted(self, block: Payload, element: Payload, value: object) -> Payload:
        action = {"action_id": element["action_id"], "block_id": block["block_id"]}
        action["action_ts"] = self._team.stamps.ts()
        if element["type"] == "button":
            kept = ("type", "text", "value", "style", "url")
            return action | {key: element[key] for key in kept if key in element}
        return action | state_of(element, value)
