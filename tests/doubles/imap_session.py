"""One connection to the small IMAP server: what each command does."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from tests.doubles.imap_folders import Folder, Stored, fits, numbered, words

if TYPE_CHECKING:
    from tests.doubles.imap_server import ImapServer

_CAPABILITIES = "IMAP4rev1 IDLE UIDPLUS LITERAL+ AUTH=PLAIN AUTH=XOAUTH2"
_LITERAL = re.compile(rb"\{(\d+)(\+?)\}\r?\n$")


class Session:
    """One connection."""

    def __init__(
        self, server: ImapServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._folder: Folder | None = None
        self._known = 0
        self._idles = False
        self._is_in = False
        self._is_over = False

    def cut(self) -> None:
        """End it without a word."""
        self._writer.transport.abort()

    async def run(self) -> None:
        """Answer commands until the client leaves."""
        await self._say(f"* OK [CAPABILITY {self._capabilities}] ready")
        while not self._is_over:
            line = await self._line()
            if not line:
                return
            tag, _, rest = line.partition(" ")
            name, _, rest = rest.partition(" ")
            name = name.upper()
            if name == "UID":
                name, _, rest = rest.partition(" ")
                name = f"UID {name.upper()}"
            await self._server.heard(name)
            await self._server.speaks.wait()
            await self._do(tag, name, rest.strip())

    async def tell_of(self, folders: dict[str, Folder]) -> None:
        """Tell of new mail, if the client idles."""
        if self._folder in folders.values() and self._idles and self._server.speaks.is_set():
            await self._tell_size()

    async def _do(self, tag: str, name: str, rest: str) -> None:
        action = self._actions.get(name)
        if action is None:
            await self._say(f"{tag} BAD unknown command")
        elif not self._is_in and name not in _BEFORE_LOGIN:
            await self._say(f"{tag} NO log in first")
        else:
            await action(self, tag, rest)

    # --- logging in

    @property
    def _capabilities(self) -> str:
        return _CAPABILITIES + (" STARTTLS" if self._server.tls else "")

    async def _capability(self, tag: str, _rest: str) -> None:
        await self._say(f"* CAPABILITY {self._capabilities}", f"{tag} OK done")

    async def _starttls(self, tag: str, _rest: str) -> None:
        await self._say(f"{tag} OK begin")
        assert self._server.tls is not None
        await self._writer.start_tls(self._server.tls)

    async def _login(self, tag: str, rest: str) -> None:
        user, password = words(rest)
        await self._admit(tag, (user, password) == (self._server.user, self._server.password))

    async def _authenticate(self, tag: str, rest: str) -> None:
        mechanism, _, initial = rest.partition(" ")
        if not initial:
            await self._say("+ ")
            initial = await self._line()
        try:
            given = base64.b64decode(initial).decode()
        except (binascii.Error, UnicodeError):
            given = ""
        server = self._server
        wanted = {
            "PLAIN": f"\0{server.user}\0{server.password}",
            "XOAUTH2": f"user={server.user}\1auth=Bearer {server.token}\1\1",
        }.get(mechanism.upper())
        await self._admit(tag, given == wanted)

    async def _admit(self, tag: str, is_right: bool) -> None:  # noqa: FBT001 (how it ended)
        self._is_in = is_right
        self._server.logins += is_right
        refused = "NO [AUTHENTICATIONFAILED] wrong user or password"
        await self._say(f"{tag} {'OK logged in' if is_right else refused}")

    # --- folders

    async def _select(self, tag: str, rest: str) -> None:
        folder = self._server.folders.get(words(rest)[0])
        if folder is None:
            await self._say(f"{tag} NO there is no such folder")
            return
        self._folder, self._known = folder, len(folder.mails)
        await self._say(
            r"* FLAGS (\Seen \Answered \Flagged \Deleted \Draft)",
            f"* {self._known} EXISTS",
            "* 0 RECENT",
            f"* OK [UIDVALIDITY {folder.uidvalidity}] valid",
            f"* OK [UIDNEXT {folder.uidnext}] next",
            r"* OK [PERMANENTFLAGS (\Seen \Answered \Flagged \Deleted \Draft \*)] kept",
            f"{tag} OK [READ-WRITE] selected",
        )

    async def _status(self, tag: str, rest: str) -> None:
        name = words(rest)[0]
        folder = self._server.folders[name]
        await self._say(
            f'* STATUS "{name}" (MESSAGES {len(folder.mails)} UIDNEXT {folder.uidnext} '
            f"UIDVALIDITY {folder.uidvalidity})",
            f"{tag} OK done",
        )

    async def _list(self, tag: str, _rest: str) -> None:
        lines = [f'* LIST () "/" "{name}"' for name in self._server.folders]
        await self._say(*lines, f"{tag} OK done")

    async def _noop(self, tag: str, _rest: str) -> None:
        await self._tell_size()
        await self._say(f"{tag} OK done")

    async def _idle(self, tag: str, _rest: str) -> None:
        await self._say("+ idling")
        await asyncio.sleep(0.05)  # clients wait for the socket, and miss what came with the +
        self._idles = True
        try:
            await self._tell_size()
            await self._line()
        finally:
            self._idles = False
        await self._say(f"{tag} OK done")

    async def _tell_size(self) -> None:
        if self._folder is not None and len(self._folder.mails) != self._known:
            self._known = len(self._folder.mails)
            await self._say(f"* {self._known} EXISTS")

    async def _logout(self, tag: str, _rest: str) -> None:
        self._is_over = True
        await self._say("* BYE", f"{tag} OK done")

    # --- mails

    async def _search(self, tag: str, rest: str) -> None:
        found = [mail.uid for mail in self._selected.mails if fits(mail, rest, self._selected)]
        await self._say(" ".join(["* SEARCH", *map(str, found)]), f"{tag} OK done")

    async def _fetch(self, tag: str, rest: str) -> None:
        numbers, _, items = rest.partition(" ")
        for position, mail in enumerate(self._selected.mails, start=1):
            if mail.uid in numbered(numbers, self._selected):
                await self._show(position, mail, items.upper())
        await self._say(f"{tag} OK done")

    async def _show(self, position: int, mail: Stored, items: str) -> None:
        if "BODY[" in items:
            mail.flags.add("\\Seen")
        flags = " ".join(sorted(mail.flags))
        shown = f"* {position} FETCH (UID {mail.uid} FLAGS ({flags}) RFC822.SIZE {len(mail.raw)}"
        found = re.search(r"BODY(?:\.PEEK)?\[([A-Z. ]*)\]", items)
        if not found:
            await self._say(f"{shown})")
            return
        part = mail.raw
        if found[1].startswith("HEADER"):
            part = mail.raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        head = f"{shown} BODY[{found[1]}] {{{len(part)}}}\r\n".encode()
        self._writer.write(head + part + b")\r\n")
        await self._writer.drain()

    async def _store(self, tag: str, rest: str) -> None:
        numbers, action, flags = rest.split(" ", 2)
        for position, mail in enumerate(self._selected.mails, start=1):
            if mail.uid in numbered(numbers, self._selected):
                named = set(flags.strip("()").split())
                mail.flags = mail.flags - named if action.startswith("-") else mail.flags | named
                shown = " ".join(sorted(mail.flags))
                await self._say(f"* {position} FETCH (UID {mail.uid} FLAGS ({shown}))")
        await self._say(f"{tag} OK done")
        await self._server.tell()

    async def _expunge(self, tag: str, _rest: str) -> None:
        self._selected.mails[:] = [m for m in self._selected.mails if "\\Deleted" not in m.flags]
        await self._say(f"{tag} OK done")

    @property
    def _selected(self) -> Folder:
        assert self._folder is not None, "no folder is selected"
        return self._folder

    # --- lines

    async def _line(self) -> str:
        """Read a line, with the literals in it as quoted strings."""
        line = await self._reader.readline()
        while found := _LITERAL.search(line):
            if not found[2]:
                await self._say("+ go on")
            text = await self._reader.readexactly(int(found[1]))
            line = line[: found.start()] + b'"' + text + b'"' + await self._reader.readline()
        return line.decode(errors="replace").rstrip("\r\n")

    async def _say(self, *lines: str) -> None:
        self._writer.write("".join(f"{line}\r\n" for line in lines).encode())
        await self._writer.drain()

    _actions: ClassVar[dict[str, Callable[[Session, str, str], Awaitable[None]]]] = {
        "CAPABILITY": _capability,
        "STARTTLS": _starttls,
        "LOGIN": _login,
        "AUTHENTICATE": _authenticate,
        "SELECT": _select,
        "EXAMINE": _select,
        "STATUS": _status,
        "LIST": _list,
        "NOOP": _noop,
        "CHECK": _noop,
        "IDLE": _idle,
        "CLOSE": _noop,
        "LOGOUT": _logout,
        "UID SEARCH": _search,
        "UID FETCH": _fetch,
        "UID STORE": _store,
        "EXPUNGE": _expunge,
    }


_BEFORE_LOGIN = frozenset({"CAPABILITY", "STARTTLS", "LOGIN", "AUTHENTICATE", "NOOP", "LOGOUT"})
