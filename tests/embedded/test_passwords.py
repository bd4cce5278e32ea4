"""Passwords of roles that come with a release join those that there are."""

import json
from pathlib import Path

from recorder.embedded.passwords import (
    Role,
    complete_passwords,
    login_role,
    make_passwords,
    read_passwords,
    write_passwords,
)


def test_a_role_of_a_later_release_gets_a_password_and_the_rest_stay(
    tmp_path: Path,
) -> None:
    path, late = tmp_path / "passwords", login_role(Role.NOTIFIER)
    before = {k: v for k, v in make_passwords().items() if k != late}
    write_passwords(path, before)

    complete_passwords(path)

    after = read_passwords(path)
    assert {**after, late: None} == {**before, late: None}
    assert after[late]
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_is_complete_or_something_else_is_left_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "passwords"
    for content in (
        json.dumps(dict(make_passwords())),
        json.dumps({"another": "x"}),
        "[]",
        "{",
    ):
        path.write_text(content)
        complete_passwords(path)
        assert path.read_text() == content
    path.unlink()
    complete_passwords(path)
    assert not path.exists()
