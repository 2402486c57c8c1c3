"""Set up what every test runs under."""

import asyncio
import os

from hypothesis import settings

from tests import servers

# Else pytest-asyncio makes a loop to put back after a test, which nobody closes
# (https://github.com/pytest-dev/pytest-asyncio/issues/724).
asyncio.set_event_loop(None)

# The same examples in every run: a red suite is red for everybody.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
# `SOEV_HYPOTHESIS=search make test` looks for new ones.
settings.register_profile("search", deadline=None, max_examples=1_000)
settings.load_profile(os.environ.get("SOEV_HYPOTHESIS", "ci"))


def pytest_report_header() -> str:
    """Which servers the suite uses, and which could not be had."""
    return servers.report()
