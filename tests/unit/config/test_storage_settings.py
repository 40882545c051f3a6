"""Object storage from the environment: what is contradictory fails at start with one line."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import storage
from config.storage import storages_from_env
from tests.unit.config.test_settings import started

FULL = {
    "S3_BUCKET": "bench",
    "S3_ENDPOINT_URL": "http://minio:9000",
    "S3_PREFIX": "/agent2/one/",
    "S3_ACCESS_KEY": "key",
    "S3_SECRET_KEY": "a-secret-key-of-the-store",
}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(**values: str) -> dict[str, Any]:
        for name, value in values.items():
            monkeypatch.setenv(f"AGENT2_{name}", value)
        return storages_from_env()

    return give


def test_none_is_the_default(given: Any) -> None:
    assert set(given()) == {"default", "staticfiles"}
    assert set(given(S3_BUCKET="", S3_PREFIX="")) == {"default", "staticfiles"}


def test_a_store_of_ones_own(given: Any) -> None:
    options = given(**FULL)["artifacts"]["OPTIONS"]
    assert options == {
        "bucket_name": "bench",
        "location": "agent2/one",
        "endpoint_url": "http://minio:9000",
        "region_name": "us-east-1",
        "access_key": "key",
        "secret_key": "a-secret-key-of-the-store",
        "addressing_style": "path",
        "checksums": True,
    }


def test_amazons_own_finds_keys_and_region_by_itself(given: Any) -> None:
    options = given(S3_BUCKET="bench", S3_CHECKSUMS="0")["artifacts"]["OPTIONS"]
    assert {name for name, value in options.items() if value is None} == {
        *("endpoint_url", "region_name", "access_key", "secret_key")
    }
    assert (options["addressing_style"], options["checksums"]) == ("auto", False)


WRONG = [
    ({"S3_ENDPOINT_URL": "http://minio:9000"}, "Set AGENT2_S3_BUCKET as well"),
    ({"S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "secret"}, "Set AGENT2_S3_BUCKET as well"),
    ({"S3_BUCKET": "b"}, "AGENT2_S3_BUCKET='b' must be 3 to 63"),
    ({"S3_BUCKET": "s3://bench"}, "AGENT2_S3_BUCKET='s3://bench' must be"),
    ({"S3_BUCKET": "bench", "S3_PREFIX": "../up"}, "AGENT2_S3_PREFIX='../up' must be"),
    ({"S3_BUCKET": "bench", "S3_PREFIX": "a//b"}, "AGENT2_S3_PREFIX='a//b' must be"),
    ({"S3_BUCKET": "bench", "S3_ACCESS_KEY": "key"}, "Set both AGENT2_S3_ACCESS_KEY and AGENT2_S3_SECRET_KEY"),
    ({"S3_BUCKET": "bench", "S3_SECRET_KEY": "key"}, "Set both AGENT2_S3_ACCESS_KEY and AGENT2_S3_SECRET_KEY"),
    ({"S3_BUCKET": "bench", "S3_ENDPOINT_URL": "minio:9000"}, "AGENT2_S3_ENDPOINT_URL must begin with"),
    ({"S3_BUCKET": "bench", "S3_ADDRESSING": "dns"}, "AGENT2_S3_ADDRESSING='dns' must be one of"),
    ({"S3_BUCKET": "bench", "S3_CHECKSUMS": "maybe"}, "AGENT2_S3_CHECKSUMS='maybe' must be one of"),
]


@pytest.mark.parametrize(("values", "told"), WRONG)
def test_what_is_wrong_says_what_to_set(given: Any, values: dict[str, str], told: str) -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        given(**values)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ["storages", "boto3"])
def test_a_missing_package_says_what_to_install(given: Any, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr(storage, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(ImproperlyConfigured, match=f"{package} is not installed here: pip install -r requirements-s3"):
        given(S3_BUCKET="bench")


def test_the_platform_does_not_start_with_half_of_it(tmp_path: Path) -> None:
    code, lines = started(["manage.py", "worker"], tmp_path, {"S3_ENDPOINT_URL": "http://minio:9000"})
    assert code == 1
    assert [line for line in lines if line.startswith("Set AGENT2_S3_BUCKET as well")], lines


def test_the_secret_key_is_in_no_log_line(tmp_path: Path) -> None:
    log = "import logging, django; django.setup(); logging.getLogger('x').warning('a-secret-key-of-the-store')"
    program = ["-c", f"import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n{log}"]
    code, lines = started(program, tmp_path, FULL)
    assert code == 0
    assert not [line for line in lines if "a-secret-key-of-the-store" in line]
    assert [line for line in lines if "WARNING x" in line]


def test_without_a_bucket_boto_is_never_imported(tmp_path: Path) -> None:
    asked = (
        "from benchmark.services.artifacts import artifact_storage; print(artifact_storage(), 'boto3' in sys.modules)"
    )
    setup = "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()"
    assert started(["-c", f"{setup}\n{asked}"], tmp_path, {}) == (0, ["None False"])
