"""The setting `links` is checked before anything is served."""

import pytest

from recorder.model.settings import Settings, SettingsError


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("Grafana", "is not NAME=URL"),
        ("=https://x.invalid/", "is not NAME=URL"),
        ("Run=javascript:alert(1)", "is not NAME=URL, with http"),
        ("Node=https://x.invalid/{machine}", "has no value for {machine}"),
    ],
)
def test_a_link_that_cannot_be_filled_in_is_refused(
    link: str, says: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.load(environ={"RECORDER_LINKS": link})

    assert says in str(refused.value)


def test_links_are_taken_as_they_are_written() -> None:
    link = "Grafana=https://x.invalid/d?var-node={node}&from={from_ms}"

    assert Settings.load(environ={"RECORDER_LINKS": link}).links == (link,)
