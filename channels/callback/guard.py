"""The guard: no callback connects to an address inside, whatever its name says.

What is checked is the address of the socket that is about to connect, after every parser and
resolver has had its say: so a name that stands for another address the second time (rebinding), a
number in hex and an address within an address all end here. What the operator allows may pass.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Network,
    ip_address,
)
from typing import Any, Final, TypeAlias

from channels.callback.addresses import BadCallback, Target
from channels.callback.allowing import Address, AllowList

AddressInfo: TypeAlias = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, Any]
"""As `getaddrinfo` gives it: family, kind, protocol, canonical name, and the socket's address."""
MakeSocket: TypeAlias = Callable[[AddressInfo], socket.socket]

_V4: Final = tuple(
    IPv4Network(one)
    for one in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own (RFC 6598), also metadata services
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocols' own (RFC 6890)
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
        "168.63.129.16/32",  # Azure's own service, on a public address
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
"""All that is given out so far. Whatever is not in it is somebody's own, or nobody's."""
_V6: Final = tuple(
    IPv6Network(one)
    for one in (
        "2001::/23",  # protocols' own: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address within
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
    )
)


class Inside(OSError):
    """The socket would reach an address inside; nothing was connected."""


def is_inside(address: Address) -> bool:
    """Tell whether an address is of any network but the public one."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in _V4)
    # Also those that hold an IPv4 address: mapped, compatible, NAT64 (64:ff9b::/96 and its local
    # kin) are outside of 2000::/3, as are loopback, link-local, site-local, unique local ones and
    # multicast; 6to4 and Teredo are named.
    return address not in _GLOBAL_V6 or any(address in network for network in _V6)


def real_socket(info: AddressInfo) -> socket.socket:
    """Make a socket, as asyncio wants it."""
    made = socket.socket(family=info[0], type=info[1], proto=info[2])
    made.setblocking(False)  # noqa: FBT003 (the standard library's own way)
    return made


class Guard:
    """Lets sockets be made for addresses outside, and for what is allowed."""

    def __init__(
        self, allowed: AllowList | None = None, make_socket: MakeSocket = real_socket
    ) -> None:
        self._allowed = allowed or AllowList()
        self._make_socket = make_socket

    def check(self, target: Target) -> None:
        """Refuse a target that can't be but inside, before anybody looks its name up."""
        if self._allowed.has_host(target.host, target.port):
            return
        address = target.literal
        if address is not None and self._allowed.has_address(address, target.port):
            return
        if address is not None and is_inside(address):
            raise BadCallback("the callback's URL is inside; the operator would have to allow it")
        if address is None and target.is_plainly_inside:
            raise BadCallback(
                "the host of the callback's URL is inside; the operator would have to allow it"
            )
        if not target.is_usual_port:
            raise BadCallback("a callback's port is 80, 443, or from 1024 on")

    def sockets_for(self, target: Target) -> MakeSocket:
        """Give what makes the sockets of one request, and refuses those that go inside."""
        is_named = self._allowed.has_host(target.host, target.port)

        def make(info: AddressInfo) -> socket.socket:
            if not is_named:
                self._require_outside(info)
            return self._make_socket(info)

        return make

    def _require_outside(self, info: AddressInfo) -> None:
        if info[0] not in (socket.AF_INET, socket.AF_INET6):
            raise Inside("the callback's host is no address of the internet")
        address, port = _read(info)
        if is_inside(address) and not self._allowed.has_address(address, port):
            raise Inside("the callback's host is an address inside")


def _read(info: AddressInfo) -> tuple[Address, int]:
    """Read the socket's own address; what can't be read is not outside."""
    try:
        host, port = info[4][0], int(info[4][1])
        if len(info[4]) > 3 and info[4][3]:  # noqa: PLR2004 (the zone's number)
            raise Inside("the callback's host is an address with a zone")
        return ip_address(host), port
    except (ValueError, TypeError, IndexError) as exc:
        raise Inside("the callback's host is no address that can be read") from exc
