"""`sottovoce models …` as it is typed: what it prints, and its exit codes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.folders import cache_folder
from engine.graphs.cache import graphs_for
from engine.models.store import digest_of
from engine.types import Precision

if TYPE_CHECKING:
    from tests.engine.models.conftest import Server
    from tests.engine.small_models import Small


class Terminal:
    """Runs the command line in its own process, with a data folder of an awkward name."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.environment = {**os.environ, "SOTTOVOCE_DATA": str(data), "PYTHONIOENCODING": "utf-8"}

    def __call__(self, *words: object, code: int = 0) -> tuple[str, str]:
        """What `sottovoce models WORDS` says on standard output and on standard error."""
        command = [sys.executable, "-P", "-m", "engine", "models", *words]
        ran = subprocess.run(command, env=self.environment, cwd=self.data, capture_output=True, check=False)
        assert ran.returncode == code, ran.stderr.decode()
        assert b"Traceback" not in ran.stderr
        return ran.stdout.decode(errors="surrogateescape"), ran.stderr.decode()


@pytest.fixture
def sottovoce(tmp_path: Path) -> Terminal:
    data = tmp_path / "Dätä ☃"
    data.mkdir()
    return Terminal(data)


def test_a_model_is_imported_listed_checked_found_and_removed(sottovoce: Terminal, small_file: Path) -> None:
    listed = sottovoce("list")[0].splitlines()
    assert listed[:2] == [
        "tiny                     78 MB  not here",
        "tiny.en                  78 MB  not here, English only",
    ]
    assert listed[-1] == "large-v3-turbo-q5_0     574 MB  not here, does not translate"

    assert sottovoce("import", small_file) == (f"small one is here now: 3 MB, from {small_file}\n", "")
    path = sottovoce.data / "models" / "ggml-small one.bin"
    assert sottovoce("path", "small one") == (f"{path}\n", "")
    assert sottovoce("list")[0].splitlines()[-1].endswith(f"imported from {small_file}, English only")
    assert "is as it was when it came here" in sottovoce("verify", "small one")[0]
    assert sottovoce("remove", "small one") == ("small one was removed\n", "")
    assert "No model has this name." in sottovoce("path", "small one", code=1)[1]


def test_a_model_is_imported_under_another_name(sottovoce: Terminal, small_file: Path) -> None:
    sottovoce("import", small_file, "--name", "Größe 1")
    assert "A file of this name is already there." in sottovoce("import", small_file, "--name", "Größe 1", code=1)[1]
    assert sottovoce("path", "Größe 1")[0].endswith("ggml-Größe 1.bin\n")


def test_graphs_are_listed_by_model_and_precision_and_removed_with_their_model_or_all_at_once(
    sottovoce: Terminal, small: Small, tmp_path: Path
) -> None:
    assert sottovoce("graphs")[0].startswith("nothing yet: ")
    assert sottovoce("graphs", "--remove")[0].startswith("0 kB were removed")
    elsewhere, cache = small.write(tmp_path / "else ☃.bin", 1, seed=1), cache_folder(sottovoce.data)
    sottovoce("import", small.write(tmp_path / "mine.bin", 1))
    file = sottovoce.data / "models" / "ggml-mine.bin"
    built: list[tuple[Path, Precision]] = [(file, "int8"), (file, "fp32"), (elsewhere, "int8")]
    for model, precision in built:
        graphs_for(model, digest_of(model), precision, cache, lambda _done, _of: None)
    rows = [re.split(" {2,}", row) for row in sottovoce("graphs")[0].splitlines()]
    assert sorted((name, about) for name, _size, about in rows) == [
        (str(elsewhere), "int8"),
        ("all", "sottovoce models graphs --remove"),
        ("mine", "fp32"),
        ("mine", "int8"),
    ]
    assert re.fullmatch(r"mine was removed, and \d+ MB that were built of it\n", sottovoce("remove", "mine")[0])
    assert len(sottovoce("graphs")[0].splitlines()) == 2
    assert re.match(r"[1-9]\d* MB were removed", sottovoce("graphs", "--remove")[0])
    assert sottovoce("graphs")[0].startswith("nothing yet: ")


def test_what_fails_says_why_in_one_line_and_exits_with_1(sottovoce: Terminal, tmp_path: Path) -> None:
    text = tmp_path / "text.bin"
    text.write_text("hello")
    for words, why in (
        (("path", "small"), "The model is not on this computer. small (488 MB) can be downloaded: sottovoce models"),
        (("download", "smal"), "No model has this name. 'smal'; did you mean small or small.en?"),
        (("verify", "../etc"), "No model has this name."),
        (("remove", "base.en"), "The model is not on this computer."),
        (("import", text), "The model cannot be imported."),
        (("import", os.fsencode(tmp_path) + b"/\xff"), "\\xff: No such file"),
    ):
        out, err = sottovoce(*words, code=1)
        assert out == ""
        assert err.startswith("sottovoce models: ")
        assert why in err
        assert err.count("\n") == 1


def test_wrong_use_exits_with_2(sottovoce: Terminal) -> None:
    for words in ((), ("fly",), ("path",), ("path", "a", "b"), ("list", "--fast")):
        assert "usage:" in sottovoce(*words, code=2)[1]


def test_a_failed_download_exits_with_1_and_uses_the_mirror_of_the_environment(
    sottovoce: Terminal, server: Server
) -> None:
    sottovoce.environment["SOTTOVOCE_MODELS_URL"] = server.url
    out, err = sottovoce("download", "tiny", code=1)
    assert out == ""
    assert "The downloaded file is not the one that was promised." in err
    assert server.ranges == [None]


@pytest.mark.skipif(os.name == "nt", reason="a data folder whose name is no text is a thing of POSIX")
def test_a_path_that_is_no_text_is_printed_as_it_is(tmp_path: Path, small_file: Path) -> None:
    data = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    data.mkdir()
    sottovoce = Terminal(data)
    sottovoce("import", small_file, "--name", "m")
    assert os.fsencode(sottovoce("path", "m")[0]) == os.fsencode(data / "models" / "ggml-m.bin") + b"\n"


def test_a_terminal_sees_the_progress_on_one_line(sottovoce: Terminal, small_file: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-m", "engine", "models", "import", small_file]
    subprocess.run(command, env=sottovoce.environment, stderr=theirs, stdout=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "importing  " in shown
    assert " %" in shown
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K"), "the line is cleared in the end"
