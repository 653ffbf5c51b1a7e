"""The page as a person opens it, in both transports: `view("index.html")` opens a view and gives Playwright's page.

Tests with `view` or `visitor` run once for each transport, with `make test-page`; elsewhere they are skipped, and say why.
After each, it is asserted that no request left this machine and that no script failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import browsing
import pytest
from browsing import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.page)


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    if request.config.getoption("-m") != "page":
        pytest.skip("in a browser: make test-page")
    if why := browsing.missing():
        pytest.skip(why)
    with browsing.chromium() as found:
        yield found


@pytest.fixture(scope="session", params=browsing.TRANSPORTS)
def visiting(
    browser: Browser, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visitor]:
    """One visitor for each transport, who stays for all tests: Python need not be loaded for each."""
    transport: str = request.param
    if why := browsing.missing_for(transport):
        pytest.skip(why)
    with browsing.served(transport, tmp_path_factory.mktemp("web")) as address:
        yield Visitor.of(browser, address, transport)


@pytest.fixture
def visitor(visiting: Visitor) -> Iterator[Visitor]:
    visiting.tab.set_viewport_size({"width": 1280, "height": 800})
    visiting.tab.emulate_media(color_scheme="light", media="screen")
    visiting.errors.clear()
    yield visiting
    assert not visiting.strayed(), "requests left this machine"
    assert not visiting.errors


@pytest.fixture
def view(visitor: Visitor) -> Callable[..., Page]:
    """Opens a view: view("index.html")."""
    return visitor.open
