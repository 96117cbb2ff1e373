"""Fixtures of the end-to-end tests."""

import pytest
from double import DOUBLES, TeenycDouble
from project import Installation, Sandbox, real_rustc


@pytest.fixture(scope="session")
def installation():
    try:
        return Installation.from_environment()
    except RuntimeError as error:
        pytest.exit(f"End-to-end tests: {error}", returncode=4)


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory):
    """One for the session: a toolchain of hundreds of megabytes is read once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def sandbox(installation, tmp_path, shared_home):
    return Sandbox(installation, tmp_path, shared_home)


@pytest.fixture
def double(sandbox):
    return TeenycDouble(sandbox.root / "compiler")


@pytest.fixture(scope="session")
def prelude():
    return DOUBLES / "triton_prelude.rs"


@pytest.fixture(scope="session")
def rustc():
    path = real_rustc()
    if path is None:
        pytest.skip("no rustc of 1.90 or newer")
    return path
