import tempfile

import pytest
from cmake_project import Project


@pytest.fixture
def directory():
    with tempfile.TemporaryDirectory() as name:
        yield name


@pytest.fixture
def project(directory):
    return Project(directory)
