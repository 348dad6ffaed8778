"""How Hypothesis runs here: the same examples every time. `--hypothesis-profile=thorough` looks for new ones.

This file is also why tests can import `oracle` and `strategies`: pytest puts its folder on the path.
"""

import pytest
from hypothesis import HealthCheck, settings

_CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("weft", max_examples=300, derandomize=True, **_CALM)
settings.register_profile("thorough", max_examples=10_000, print_blob=True, **_CALM)
settings.load_profile("weft")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files from what the code does now"
    )
