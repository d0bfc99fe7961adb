"""Debian's pgbouncer before a PostgreSQL of ours, on a port of loopback."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from tests.doubles.postgres_server import NOBODY
from tests.scenario.gateway.cli_installation import free_port

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

_INI = """
[databases]
* = host={socket} user=postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 60
max_client_conn = 200
logfile = {folder}/log
"""


@asynccontextmanager
async def pgbouncer(server: str, mode: Literal["session", "transaction"]) -> AsyncIterator[str]:
    """Give the URL under which a database is seen through the pool."""
    assert PROGRAM is not None
    [socket] = parse_qs(urlsplit(server).query)["host"]
    folder, port = Path(tempfile.mkdtemp(prefix="pgb-")), free_port()
    (folder / "ini").write_text(_INI.format(socket=socket, port=port, mode=mode, folder=folder))
    is_root = os.geteuid() == 0
    if is_root:  # it refuses to be root, as PostgreSQL does
        shutil.chown(folder, NOBODY, NOBODY)
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "-q", str(folder / "ini")),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        user=NOBODY if is_root else None,
        group=NOBODY if is_root else None,
        extra_groups=[] if is_root else None,
    )
    try:
        await _listening(port)
        yield f"postgresql://postgres@127.0.0.1:{port}{urlsplit(server).path}?sslmode=disable"
    finally:
        process.terminate()
        await process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def _listening(port: int) -> None:
    async with asyncio.timeout(10):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.02)
