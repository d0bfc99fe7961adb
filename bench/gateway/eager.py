"""Imports everything that Parley uses, as a server that thinks nothing of it would, and stays."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys

_LIBRARIES = (
    "aiohttp.web",
    "alembic.command",
    "asyncpg",
    "jsonschema_rs",
    "openai",
    "prometheus_client",
    "pydantic_settings",
    "rich.console",
    "slack_bolt.async_app",
    "sqlalchemy.ext.asyncio",
    "sqlmodel",
    "typer",
)
_OURS = ("agent_core", "storage", "channels", "gateway")
_PROGRAMS = ("__main__", "migrations.env")
"""Modules that do something when they are imported."""


def main() -> None:
    """Import, say so, and wait to be stopped."""
    for name in _LIBRARIES:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)
    for name in _OURS:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith(_PROGRAMS):
                importlib.import_module(module.name)
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
