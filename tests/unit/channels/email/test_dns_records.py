"""TXT records, from a name server on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import dns.message
import dns.rrset

from channels.email.dns_records import DnsTxt


class _Names(asyncio.DatagramProtocol):
    """A name server that knows one record, in two pieces, and answers nothing else but "no"."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to answer."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer."""
        asked = dns.message.from_wire(data)
        answer = dns.message.make_response(asked)
        name = asked.question[0].name
        if str(name) == "s1._domainkey.example.org.":
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", '"v=DKIM1; " "p=abc"'))
        self._transport.sendto(answer.to_wire(), addr)


@asynccontextmanager
async def name_server() -> AsyncIterator[int]:
    """Run the name server, and give its port."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(_Names, local_addr=("127.0.0.1", 0))
    try:
        yield transport.get_extra_info("sockname")[1]
    finally:
        transport.close()


async def test_record_is_put_together() -> None:
    """Long records come in pieces of 255 bytes."""
    async with name_server() as port:
        assert (
            await DnsTxt("127.0.0.1", port=port)("s1._domainkey.example.org") == b"v=DKIM1; p=abc"
        )


async def test_whatever_goes_wrong_there_is_no_record() -> None:
    """No such record, no name, and no server."""
    async with name_server() as port:
        assert await DnsTxt("127.0.0.1", port=port)("other.example.org") is None
        assert await DnsTxt("127.0.0.1", port=port)("." * 300) is None

    assert await DnsTxt("127.0.0.1", port=port, seconds=0.2)("s1._domainkey.example.org") is None
