"""The root of the image, made once."""

from pathlib import Path

import pytest

from tests.deploy.rootfs import RootFs


@pytest.fixture(scope="session")
def rootfs(tmp_path_factory: pytest.TempPathFactory) -> RootFs:
    folder: Path = tmp_path_factory.mktemp("image")
    made = RootFs(folder / "root")
    made.install()
    for each in (made.folder, *made.folder.parents):
        if str(each).startswith(str(tmp_path_factory.getbasetemp().parent)):
            each.chmod(0o755)
    return made
