"""Rendering: templates to pages. Everything is escaped, and a name that is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gateway.inbox.assets import Assets
from gateway.inbox.filters import FILTERS


class Rendering:
    """Our templates, compiled when each is first needed."""

    def __init__(self, assets: Assets) -> None:
        self._environment = Environment(
            loader=PackageLoader("gateway.inbox", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            extensions=("jinja2.ext.do",),
        )
        self._environment.filters |= FILTERS
        self._environment.globals["asset"] = assets.address

    def text(self, template: str, context: Mapping[str, Any]) -> str:
        """Render one page, or a part of one."""
        return self._environment.get_template(template).render(context)
