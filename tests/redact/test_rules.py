"""Which names are those of secrets, by the patterns built in."""

import pytest

from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.redact.rules import (
    DEFAULT_PATTERNS,
    NAME_LENGTH_MAX,
    REMEMBERED_NAMES_MAX,
    NameMatcher,
)
from recorder.model.errors import ConfigError
from tests.redact.examples import KEY

matches = NameMatcher(DEFAULT_PATTERNS)


OF_SECRETS = """
    PASSWORD DB_PASSWORD db-password dbPassword PASSWD MYSQL_ROOT_PASSWORD
    SSH_PASSPHRASE PASSCODE DB_PASS MYSQL_PWD DB_PW PGPASSFILE
    CLIENT_SECRET SECRET_KEY secretKey AWS_SECRET_ACCESS_KEY MY_SECRETS
    HF_TOKEN GITHUB_TOKEN AWS_SESSION_TOKEN token REFRESH_TOKENS tokenFile
    AWS_CREDENTIALS GOOGLE_APPLICATION_CREDENTIALS GIT_CREDS CRED
    API_KEY api-key APIKEY OPENAI_API_KEY WANDB_API_KEY PRIVATE_KEY
    privateKey AWS_ACCESS_KEY_ID ENCRYPTION_KEY SSH_KEY STRIPE_KEY KEY
    ACCOUNT_KEY LICENSE_KEY signing.key
    BASIC_AUTH AUTHORIZATION OAUTH_CODE auth DOCKER_AUTH_CONFIG
    JWT BEARER SESSION_COOKIE
    SENTRY_DSN DATABASE_URL DB_URL DB_URI REDIS_URL MONGODB_URI AMQP_URL
    POSTGRES_URL DATA_SOURCE_NAME CONNECTION_STRING ConnectionStrings__Main
    JDBC_URL AZURE_SAS SLACK_WEBHOOK_URL KUBECONFIG_DATA DOCKERCONFIGJSON
    NETRC
"""
OF_OTHERS = """
    PATH HOME PWD OLDPWD LANG TERM HOSTNAME POD_NAME POD_IP NODE_NAME
    MASTER_ADDR MASTER_PORT WORLD_SIZE RANK LOCAL_RANK NNODES
    NCCL_DEBUG NCCL_IB_HCA NCCL_SOCKET_IFNAME NCCL_IB_PKEY OMP_NUM_THREADS
    NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES CUDA_VISIBLE_DEVICES
    TOKENIZERS_PARALLELISM TOKENIZER_PATH tokenized_data HF_HOME
    GIT_AUTHOR_NAME AUTHOR AUTHORITY COMPASS BYPASS KEYBOARD MONKEY KEYCLOAK
    LOG_LEVEL SERVICE_URL BASE_URL S3_ENDPOINT HTTP_PROXY KUBE_CONFIG
    JOB_COMPLETION_INDEX WANDB_MODE WANDB_PROJECT REDIS_HOST DB_NAME DB_USER
"""


@pytest.mark.parametrize("name", OF_SECRETS.split())
def test_it_is_one_of_a_secret(name: str) -> None:
    assert matches(name)


@pytest.mark.parametrize("name", OF_OTHERS.split())
def test_it_is_none_of_a_secret(name: str) -> None:
    assert not matches(name)


def test_a_name_that_is_too_long_counts_as_one() -> None:
    assert matches("X" * (NAME_LENGTH_MAX + 1))
    assert not matches("X" * NAME_LENGTH_MAX)


def test_verdicts_do_not_change_when_memory_is_full() -> None:
    for number in range(REMEMBERED_NAMES_MAX + 10):
        assert not matches(f"NAME_{number}")

    assert matches("A_TOKEN")
    assert not matches("NAME_1")


def test_one_pattern_does_not_spill_into_the_next() -> None:
    both = NameMatcher(("a|b", "(?s)^(c)\\1$", "^(d)\\1$"))

    assert both("xbx")
    assert both("CC")
    assert both("dd")
    assert not both("c")


def test_no_pattern_means_none() -> None:
    assert not NameMatcher(())("PASSWORD")


def test_a_bad_pattern_is_named() -> None:
    with pytest.raises(ConfigError, match=r'pattern "a\(" is invalid'):
        Redaction(RedactionRules(patterns=("ok", "a(")), KEY)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="15 bytes"):
        Redaction(RedactionRules(), b"x" * 15)
