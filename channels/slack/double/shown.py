"""How Slack writes users, channels, messages, views and files as JSON. Pure."""

from __future__ import annotations

from channels.slack.double.records import Channel, Message, Payload, SharedFile, User, View
from channels.slack.double.team import Team


def user(person: User, team: Team, *, with_email: bool) -> Payload:
    """Write a user as `users.info` does."""
    profile: Payload = {
        "real_name": person.real_name,
        "display_name": person.name,
        "real_name_normalized": person.real_name,
        "display_name_normalized": person.name,
        "team": person.team_id,
    }
    if with_email and person.email:
        profile["email"] = person.email
    if person.bot_id:
        profile |= {"bot_id": person.bot_id, "api_app_id": team.bot.app_id}
    shown: Payload = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "real_name": person.real_name,
        "deleted": person.deleted,
        "tz": person.tz,
        "profile": profile,
        "is_admin": person.is_admin,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 1700000000,
    }
    if person.team_id != team.id:
        shown["is_stranger"] = True
    return shown


def channel(place: Channel, team: Team) -> Payload:
    """Write a conversation as `conversations.info` does."""
    if place.is_im:
        other = next((member for member in place.members if member != team.bot.user), "")
        return {
            "id": place.id,
            "created": place.created,
            "is_archived": place.archived,
            "is_im": True,
            "is_org_shared": False,
            "context_team_id": team.id,
            "user": other,
            "is_user_deleted": False,
        }
    return {
        "id": place.id,
        "name": place.name,
        "name_normalized": place.name,
        "is_channel": not place.is_private,
        "is_group": place.is_private and not place.is_mpim,
        "is_im": False,
        "is_mpim": place.is_mpim,
        "is_private": place.is_private,
        "is_archived": place.archived,
        "is_general": place.name == "general",
        "is_shared": place.is_ext_shared,
        "is_ext_shared": place.is_ext_shared,
        "is_org_shared": False,
        "is_member": team.bot.user in place.members,
        "created": place.created,
        "creator": place.creator,
        "context_team_id": team.id,
        "shared_team_ids": [team.id, *place.shared_with],
        "topic": {"value": place.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "num_members": len(place.members),
    }


def file(shared: SharedFile, team: Team) -> Payload:
    """Write a file, as `files.info` and messages do."""
    if shared.access == "check_file_info":
        # From another organisation: the event tells no more than this.
        return {"id": shared.id, "mode": "file_access", "file_access": "check_file_info"}
    extension = shared.name.rpartition(".")[2]
    return {
        "id": shared.id,
        "created": shared.created,
        "timestamp": shared.created,
        "name": shared.name,
        "title": shared.name,
        "mimetype": shared.mimetype,
        "filetype": extension,
        "pretty_type": extension.upper(),
        "user": shared.user,
        "user_team": team.id,
        "editable": False,
        "size": len(shared.content),
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": True,
        "public_url_shared": False,
        "url_private": shared.url_private,
        "url_private_download": shared.url_private + "?download=1",
        "permalink": f"https://{team.domain}.slack.com/files/{shared.user}/{shared.id}",
        "file_access": "visible",
    }


def message(said: Message, team: Team, *, metadata: bool = False) -> Payload:
    """Write a message as `conversations.history` does; a root with replies says so."""
    shown: Payload = {"type": "message", "ts": said.ts, "text": said.text, "team": said.user_team}
    optional: Payload = {
        "user": said.user,
        "subtype": said.subtype,
        "username": said.username,
        "client_msg_id": said.client_msg_id,
        "blocks": said.blocks,
        "attachments": said.attachments,
        "edited": said.edited,
        "files": [file(shared, team) for shared in said.files],
        "metadata": said.metadata if metadata else None,
        "reactions": _reactions(said),
    }
    shown |= {key: value for key, value in optional.items() if value}
    if said.bot_id:
        shown |= _bot_fields(said, team)
    if said.streaming:
        shown["streaming_state"] = "in_progress"
    if said.ephemeral_to:
        shown["is_ephemeral"] = True
    return shown | _thread_fields(said, team)


def _reactions(said: Message) -> list[Payload]:
    return [
        {"name": name, "users": users, "count": len(users)}
        for name, users in said.reactions.items()
    ]


def _bot_fields(said: Message, team: Team) -> Payload:
    profile = {
        "id": said.bot_id,
        "app_id": said.app_id,
        "name": team.bot.name if said.bot_id == team.bot.bot_id else said.username,
        "deleted": False,
        "updated": 1700000000,
        "team_id": team.id,
    }
    return {"bot_id": said.bot_id, "app_id": said.app_id, "bot_profile": profile}


def _thread_fields(said: Message, team: Team) -> Payload:
    if said.thread_ts and said.thread_ts != said.ts:
        root = team.channels[said.channel].messages.get(said.thread_ts)
        parent = {"parent_user_id": root.user} if root and root.user else {}
        return {"thread_ts": said.thread_ts, **parent}
    replies = team.replies(said.channel, said.ts)[1:]
    if not replies or said.ephemeral_to:
        return {}
    return {
        "thread_ts": said.ts,
        "reply_count": len(replies),
        "reply_users": sorted({reply.user for reply in replies if reply.user}),
        "latest_reply": replies[-1].ts,
        "is_locked": False,
        "subscribed": False,
    }


def view(opened: View, team: Team) -> Payload:
    """Write a view as `views.open` and interactions do."""
    return {
        "id": opened.id,
        "team_id": opened.team_id,
        "type": opened.type,
        "blocks": opened.blocks,
        "private_metadata": opened.private_metadata,
        "callback_id": opened.callback_id,
        "state": {"values": opened.values},
        "hash": opened.hash,
        "title": opened.title,
        "clear_on_close": opened.clear_on_close,
        "notify_on_close": opened.notify_on_close,
        "close": opened.close,
        "submit": opened.submit,
        "previous_view_id": opened.previous_view_id,
        "root_view_id": opened.root_view_id,
        "app_id": opened.app_id,
        "external_id": opened.external_id,
        "app_installed_team_id": team.id,
        "bot_id": opened.bot_id,
    }
