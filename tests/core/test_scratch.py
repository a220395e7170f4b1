from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from streamgauge.core.scratch import ScratchFolder, remove_abandoned


def test_a_folder_in_use_stays_and_a_removed_one_is_gone(tmp_path: Path) -> None:
    first = ScratchFolder("data-", tmp_path)
    second = ScratchFolder("data-", tmp_path)
    assert first.path.exists()
    assert second.path.exists()
    first.remove()
    first.remove()
    second.remove()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_maker_is_removed_by_the_next(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; from streamgauge.core.scratch import ScratchFolder;"
        "ScratchFolder('data-', pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=30, check=False)
    assert len(list(tmp_path.iterdir())) == 1
    mine = ScratchFolder("data-", tmp_path)
    assert list(tmp_path.iterdir()) == [mine.path]
    mine.remove()


def test_a_process_that_inherited_the_lock_keeps_the_folder(tmp_path: Path) -> None:
    folder = ScratchFolder("data-", tmp_path)
    heir = subprocess.Popen(["sleep", "60"], pass_fds=[folder.lock_fd])
    try:
        os.close(folder.lock_fd)
        folder.lock_fd = -1
        remove_abandoned("data-", tmp_path)
        assert folder.path.exists()
    finally:
        heir.kill()
        heir.wait(60)
    remove_abandoned("data-", tmp_path)
    assert not folder.path.exists()


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data-without-a-lock").mkdir()
    (tmp_path / "other").mkdir()
    remove_abandoned("data-", tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
