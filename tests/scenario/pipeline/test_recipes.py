"""Each CI's recipe, as its CI would run it: otto is asked in Slack before the deploy goes on.

The steps are taken from the recipe's own file, with the CI's shell and variables; the server is a
real one, with the recipes' agent and parley.toml; otto clicks in the Slack double.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.pipeline.recipe_files import RECIPE_OF, Recipe
from tests.scenario.pipeline.stage import RECIPES, Ran, Stage, ended, stage, told

CIS = pytest.mark.parametrize("ci", sorted(RECIPE_OF))


async def pipeline(here: Stage, recipe: Recipe, click: str, run: int) -> list[Ran]:
    """Run the steps, one after the other until one fails; otto clicks, or nobody does."""
    environ = {name: value.replace("{run}", str(run)) for name, value in recipe.environ.items()}
    if not click:
        environ["PARLEY_TIMEOUT"] = "1"
    ran: list[Ran] = []
    for number, step in enumerate(recipe.steps()):
        under_way = await here.begin([*recipe.shell, step], **environ)
        if number == 0:
            card = await here.card()
            assert "v1.2.3" in str(card.blocks)
            if click:
                said = await told(under_way, "question: ")
                assert "  asked: release-manager\n  in: slack\n" in said
                await here.clicks(card, click)
        ran.append(await ended(under_way))
        if ran[-1].code:
            break
    return ran


def deploys(here: Stage) -> int:
    """Count what was deployed."""
    log = here.runner / "deployed.txt"
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.timeout(180)
@CIS
async def test_deploy_goes_on_only_after_a_person_has_said_so(ci: str, tmp_path: Path) -> None:
    """Denied: 1. Nobody answers: 3. Approved: 0, and then, and only then, it is deployed."""
    async with stage(tmp_path) as here:
        denied = await pipeline(here, RECIPE_OF[ci], "deny", 1)
        nobody = await pipeline(here, RECIPE_OF[ci], "", 2)
        before = deploys(here)
        approved = await pipeline(here, RECIPE_OF[ci], "approve", 3)

    assert ([one.code for one in denied], before) == ([1], 0), denied
    assert [one.code for one in nobody] == [3], nobody
    assert ([one.code for one in approved], deploys(here)) == ([0, 0], 1), approved
    assert approved[0].out.startswith("Go ahead: Deploy ")


@CIS
def test_recipe_is_on_the_page(ci: str) -> None:
    """Nobody would find it otherwise."""
    page = (RECIPES / "README.md").read_text()

    assert f"]({RECIPE_OF[ci].file})" in page
