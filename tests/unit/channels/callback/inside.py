"""Addresses that try to reach inside: as a URL may write them, and as a resolver may give them."""

from __future__ import annotations

METADATA = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16"]
"""Of the clouds: AWS, GCP and Azure; ECS; Alibaba; Oracle; Azure's own."""

V4 = [
    *METADATA,
    "0.0.0.0",  # noqa: S104 (nobody binds to it)
    *("0.0.0.1", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.1"),
    *("100.127.255.254", "127.0.0.1", "127.0.1.1", "127.127.127.127", "127.255.255.255"),
    *("169.254.0.1", "169.254.255.255", "172.16.0.1", "172.17.0.1", "172.31.255.255"),
    *("192.0.0.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.88.99.2", "192.168.0.1"),
    *("192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9"),
    *("192.31.196.1", "192.52.193.1", "192.175.48.1", "224.0.0.1", "239.255.255.250"),
    *("240.0.0.1", "250.1.2.3", "255.255.255.255"),
]
V6 = [
    *("::", "::1", "::2", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1"),
    *("::ffff:169.254.169.254", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "::127.0.0.1"),
    *("::10.0.0.1", "::169.254.169.254", "::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::8.8.8.8", "64:ff9b:1::1"),
    *("64:ff9b:1:ffff::10.0.0.1", "100::1", "100:0:0:1::1", "2001::1", "2001:0:7f00:1::1"),
    *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1"),
    *("2001:db8::1", "2001:db8:ffff::1", "2002:7f00:1::1", "2002:a00:1::", "2002:a9fe:a9fe::1"),
    *("2002:c0a8:101::1", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1"),
    *("4000::1", "5f00::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1", "fe80::1"),
    *("fe80::a9fe:a9fe", "febf::1", "fec0::1", "feff::1", "ff00::1", "ff02::1", "ff05::1:3"),
    *("ffff::1", "0:0:0:0:0:0:0:1", "0000:0000:0000:0000:0000:0000:0000:0001"),
    *("0:0:0:0:0:ffff:7f00:0001", "::ffff:c0a8:1", "::ffff:100.64.0.1", "::ffff:0.0.0.0"),
]
HOSTS = [
    # numbers: decimal, hex, octal, and with parts left out
    *("2130706433", "0x7f000001", "0x7F000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1"),
    *("127.1", "127.0.1", "0x7f.1", "0177.1", "10.1", "192.168.1", "0", "0.0", "0x0", "00"),
    *("2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe", "169.16689662"),
    *("169.254.43518", "3232235777", "0300.0250.1.1", "00127.0.0.1", "127.0.0.01"),
    *("0127.0.0.1", "127.0.0.1.", "127.0.0.1..", "169.254.169.254.", "1.2.3.4.5", "256.1.1.1"),
    *("4294967296", "99999999999", "-1", "127.0.0.-1", "1e3.1.1.1", "0x", "0x7f.0x0.0x0.0x1"),
    # names
    *("localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "x.localhost"),
    *("a.b.localhost", "ip6-localhost", "metadata", "metadata.google.internal", "kubernetes"),
    *("kubernetes.default.svc.cluster.local", "consul.service.internal", "db", "printer.local"),
    *("router.lan", "nas.home", "vault.corp", "intranet", "wiki.intranet", "box.private"),
    *("host.docker.internal", "gateway.docker.internal", "instance-data.ec2.internal"),
    # what is no letter, or looks like another
    *(
        "①②⑦.⓪.⓪.①",
        "１２７.０.０.１",
        "127。0。0。1",
        "127．0．0．1",
        "ⓛocalhost",
        "loc\u00adalhost",
    ),
    *("0x7f｡1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "٣.١.١.١", "localhoſt", "metadata\u200b.internal", "ㅤ.example.com"),
    *("a..b", ".example.com", "-a.example.com", "a-.example.com", "exa mple.com", "example.com%00"),
    *("example.com\\@127.0.0.1", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "[127.0.0.1]", "[v1.x]"),
    *("[::1", "::1]", "[::1%25lo]", "[fe80::1%eth0]", "[fe80::1%25eth0]", "[::ffff:127.1]"),
    # names and passwords, and what only looks like a host
    *("user@127.0.0.1", "user:pass@10.0.0.1", "example.com@127.0.0.1", "example.com:80@127.0.0.1"),
    *("127.0.0.1#.example.com", "127.0.0.1#@example.com", "example.com#@127.0.0.1", "@127.0.0.1"),
    *("user@example.com", "a:b@example.com", ":@example.com", "%40example.com"),
    # ports
    *("example.com:0", "example.com:65536", "example.com:-1", "example.com:x", "example.com:"),
    *("example.com:22", "example.com:25", "example.com:6", "example.com:111", "example.com:1"),
    *("example.com:445", "example.com:587", "example.com:993", "example.com:1023", "10.0.0.1:8080"),
    *("127.0.0.1:80", "[::1]:443", "8.8.8.8:53", "example.com:99999", "example.com:٨٠"),
]
URLS = [
    *("", "callback", "//10.0.0.1/", "http:", "http:///", "http://", "https:///in", "http://?x"),
    *("file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "unix:/run/docker.sock"),
    *("http+unix://%2Frun%2Fdocker.sock/", "javascript:alert(1)", "data:,x", "ws://127.0.0.1/"),
    *("HTTP:/127.0.0.1/", "http:127.0.0.1", "http:/\\127.0.0.1", "http:\\\\127.0.0.1\\"),
    *(" http://127.0.0.1/", "http://127.0.0.1/ ", "http://127.0.0.1\t/", "ht\ntp://127.0.0.1/"),
    *("http://127.0.0.1\r\nHost: x/", "http://example.com/#x", "https://example.com/{{ x }}"),
    *("http://example.com/" + "a" * 1800, "http://" + "a." * 200 + "com/", "jar:http://10.0.0.1!/"),
]
