"""Nothing reaches inside: more than two hundred ways to try, and no socket is made for any.

A recorder stands in the place of the socket, and our own resolver in the place of the real one: so
nothing leaves this process, also if the guard should fail.
"""

from __future__ import annotations

import ipaddress
import itertools
import socket
from collections.abc import Iterable

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from channels.callback.addresses import BadCallback, Target, parse_target
from channels.callback.allowing import AllowList, parse_allowance
from channels.callback.channel import CallbackChannel
from channels.callback.guard import AddressInfo, Guard, is_inside
from channels.callback.options import CallbackOptions
from channels.callback.requests import Outcome, Requests
from channels.channel import ChannelError
from channels.outgoing import Outgoing
from channels.recording import Recording
from tests.unit.channels.callback.inside import HOSTS, URLS, V4, V6

OUTSIDE = "93.184.215.14"
PUBLIC = [
    *(OUTSIDE, "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.255.255"),
    *("172.32.0.1", "192.0.1.1", "198.17.255.255", "223.255.255.254", "2606:4700::1111"),
    *("2a00:1450:4001::200e", "2001:4860:4860::8888", "2003::1", "3000::1"),
]


class Recorder:
    """Stands where a socket would be made: it writes the address down, and makes none."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    def __call__(self, info: AddressInfo) -> socket.socket:
        """Write it down, and fail as if nobody were there."""
        self.reached.append(str(info[4][0]))
        raise ConnectionRefusedError


class OwnResolver(AbstractResolver):
    """Gives what it was told to give, one list after the other, for whatever name."""

    def __init__(self, *answers: Iterable[str]) -> None:
        self._answers = itertools.chain(answers, itertools.repeat(tuple(answers[-1])))
        self.asked: list[str] = []

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 (it gives what it has)
    ) -> list[ResolveResult]:
        """Give the next list."""
        self.asked.append(host)
        return [
            ResolveResult(
                hostname=host,
                host=one,
                port=port,
                family=socket.AF_INET6 if ":" in one else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for one in next(self._answers)
        ]

    async def close(self) -> None:
        """Hold nothing."""


def bracketed(address: str) -> str:
    """Write an address as a host."""
    return f"[{address}]" if ":" in address else address


async def send(url: str, *answers: Iterable[str], allow: str = "") -> tuple[Recorder, str]:
    """Let the whole channel send to a URL; give what was reached, and what became of it."""
    recorder = Recorder()
    allowed = AllowList(parse_allowance(one) for one in allow.split(",") if one)
    resolver = OwnResolver(*(answers or ([OUTSIDE],)))
    channel = CallbackChannel(
        CallbackOptions(secret_key=b"key", guard=Guard(allowed, recorder)),
        make_resolver=lambda: resolver,
    )
    await channel.start(Recording().house())
    with pytest.raises(ChannelError) as caught:
        await channel.send(
            Outgoing(id="d1", thread="t1", address=f"callback:{url}", kind="thread.finished")
        )
    return recorder, type(caught.value).__name__


TRIES = [
    *(f"http://{bracketed(one)}/" for one in (*V4, *V6)),
    *(f"https://{one}/in" for one in HOSTS),
    *URLS,
]


def test_there_are_enough_of_them() -> None:
    """The issue asks for two hundred."""
    assert len(set(TRIES)) >= 200


@pytest.mark.parametrize("url", TRIES)
async def test_no_url_reaches_inside(url: str) -> None:
    """The URL is refused, or no socket is made for it; the resolver never says where it may go."""
    recorder, _ = await send(url)

    assert recorder.reached == []


@pytest.mark.parametrize("url", TRIES)
async def test_no_url_that_is_inside_can_be_chosen(url: str) -> None:
    """Who launches with it is told so at once, in words."""
    with pytest.raises(BadCallback, match="callback"):
        Guard().check(parse_target(url))


@pytest.mark.parametrize("address", [*V4, *V6])
async def test_no_name_that_stands_for_an_address_inside_is_reached(address: str) -> None:
    """Whatever the resolver says; it is tried again later, because names change."""
    recorder, became = await send("https://ci.example.com/in", [address])

    assert (recorder.reached, became) == ([], "TryLater")


@pytest.mark.parametrize("address", [*V4, *V6])
async def test_an_address_inside_among_others_is_left_out(address: str) -> None:
    """Only those outside are tried."""
    recorder, _ = await send("https://ci.example.com/in", [address, OUTSIDE, address])

    assert set(recorder.reached) == {OUTSIDE}  # aiohttp tries it again without the others


async def test_rebinding_does_not_help() -> None:
    """A name that is outside at first, and inside the second time: what counts is the socket."""
    recorder = Recorder()
    resolver = OwnResolver([OUTSIDE], ["127.0.0.1"], ["169.254.169.254"])
    requests = Requests(Guard(make_socket=recorder), 5, make_resolver=lambda: resolver)
    target = parse_target("https://ci.example.com/in")

    became = [await requests.post(target, {}, b"{}") for _ in range(3)]

    assert recorder.reached == [OUTSIDE]
    assert [one.status for one in became] == [0, 0, 0]
    assert became[1] == became[2] == Outcome(why="the callback's host is an address inside")


@pytest.mark.parametrize(
    "host", [*V4, *(f"[{one}]" for one in V6), *(one for one in HOSTS if "8.8.8.8" not in one)]
)
async def test_the_guard_holds_also_where_nobody_has_read_the_url(host: str) -> None:
    """As if a thread came from elsewhere with any address at all, and no parser had refused it."""
    recorder = Recorder()
    resolver = OwnResolver(["127.0.0.1", "::1"])
    requests = Requests(Guard(make_socket=recorder), 5, make_resolver=lambda: resolver)
    unread = Target(f"http://{host}/", "http", host.strip("[]"), 80, f"http://{host}/")

    outcome = await requests.post(unread, {}, b"{}")

    assert (recorder.reached, outcome.status) == ([], 0)


@pytest.mark.parametrize("address", [*V4, *V6])
def test_inside_is_inside(address: str) -> None:
    """Private, loopback, link-local, carriers', multicast, reserved, or an IPv4 one within."""
    assert is_inside(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
async def test_outside_is_outside(address: str) -> None:
    """A guard that lets nobody through would be no use."""
    assert not is_inside(ipaddress.ip_address(address))
    recorder, _ = await send("https://ci.example.com/in", [address])
    assert recorder.reached == [address]


@pytest.mark.parametrize(
    ("allow", "url", "answer", "reached"),
    [
        ("10.1.0.0/16", "http://10.1.2.3/", [], ["10.1.2.3"]),
        ("10.1.0.0/16", "http://10.2.2.3/", [], []),
        ("10.1.0.0/16", "https://ci.example.com/", ["10.1.9.9"], ["10.1.9.9"]),
        ("10.1.0.0/16:8080", "http://10.1.2.3:8080/", [], ["10.1.2.3"]),
        ("10.1.0.0/16:8080", "http://10.1.2.3:8081/", [], []),
        ("[fd00::1]:443", "https://[fd00::1]/", [], ["fd00::1"]),
        ("ci.internal", "http://ci.internal:22/", ["10.9.9.9"], ["10.9.9.9"]),
        ("ci.internal:8443", "https://ci.internal:8443/", ["10.9.9.9"], ["10.9.9.9"]),
        ("ci.internal:8443", "https://ci.internal/", ["10.9.9.9"], []),
        ("ci.internal", "https://ci.internal.example.com/", ["10.9.9.9"], []),
        ("ci.internal", "https://evil-ci.internal/", ["10.9.9.9"], []),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/", [], []),
    ],
)
async def test_the_operator_opens_exceptions(
    allow: str, url: str, answer: list[str], reached: list[str]
) -> None:
    """Networks and hosts, with a port or for all: these, and nothing beside them."""
    recorder, _ = await send(url, answer or [OUTSIDE], allow=allow)

    assert recorder.reached == reached


@pytest.mark.parametrize("entry", ["", "a b", "10.0.0.0/33", "x:0", "x:70000", "999.1.1.1", "-x"])
def test_an_allowance_that_means_nothing_is_refused(entry: str) -> None:
    """When the server starts, not when somebody relies on it."""
    with pytest.raises(ValueError, match=r"."):
        parse_allowance(entry)


async def test_other_families_and_unreadable_addresses_are_inside() -> None:
    """A socket of the machine's own is no place on the internet; nor is one with a zone."""
    recorder = Recorder()
    make = Guard(make_socket=recorder).sockets_for(parse_target("https://ci.example.com/"))
    odd: list[AddressInfo] = [
        (socket.AF_UNIX, socket.SOCK_STREAM, 0, "", "/run/docker.sock"),
        (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.1", 80)),
        (socket.AF_INET, socket.SOCK_STREAM, 0, "", ()),
        (socket.AF_INET6, socket.SOCK_STREAM, 0, "", ("2606:4700::1111", 80, 0, 2)),
    ]
    for info in odd:
        with pytest.raises(OSError, match="callback"):
            make(info)

    assert recorder.reached == []
