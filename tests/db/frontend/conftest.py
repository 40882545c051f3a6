"""The three people of every view test."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client


@pytest.fixture(params=["anonymous", "stranger", "operator"])
def anyone(request: pytest.FixtureRequest) -> Client:
    """Each of the three in turn."""
    client: Client = request.getfixturevalue(request.param)
    return client


@pytest.fixture
def anonymous(db: None) -> Client:
    return Client()


@pytest.fixture
def stranger(db: None) -> Client:
    """Signed in, without the permission."""
    client = Client()
    client.force_login(User.objects.create_user("stranger"))
    return client


@pytest.fixture
def operator(db: None) -> Client:
    """Signed in, may start and cancel runs."""
    user = User.objects.create_user("operator")
    user.user_permissions.add(Permission.objects.get(codename="operate_run"))
    client = Client()
    client.force_login(user)
    return client
