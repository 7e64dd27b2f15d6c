"""Commands write what they wrote when `make golden` was last run; all with QUESTREE_GOLDEN=all."""

import json
import os

import pytest

from golden.outputs import DIGESTS, SCENARIOS, SMALL, scenario_digests


@pytest.mark.parametrize("name", SCENARIOS if os.environ.get("QUESTREE_GOLDEN") == "all" else SMALL)
def test_commands_write_what_they_wrote(name: str) -> None:
    assert scenario_digests(name) == json.loads(DIGESTS.read_text("utf-8"))[name]
