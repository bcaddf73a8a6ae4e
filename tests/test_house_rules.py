"""The limits of the house style that no linter knows: how long things may grow, and where an error may be swallowed."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "engine", "packaging", "resources", "tests")
MODULES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_bytes())
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}
OURS = {name: tree for name, tree in MODULES.items() if name.startswith(("app/", "engine/"))}

FILE_LINES = 400
FUNCTION_LINES = 40
TEST_FUNCTION_LINES = 60
METHODS = 16  # "about a dozen", and the constructor and a few more; properties and Qt's own hooks are not counted

# Where whatever went wrong must become a sentence: the worker's loop, the hook for what nobody caught, and the boundary
# to coremltools, which raises plain Exception.
MAY_SWALLOW_EVERYTHING = {"engine/worker.py", "app/crash_log.py", "engine/backends/coreml_runtime.py"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def length(node: Function) -> int:
    """Lines from `def` to the end, without the decorators."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def methods(node: ast.ClassDef) -> list[str]:
    def is_property(method: Function) -> bool:
        return any("property" in ast.unparse(decorator) for decorator in method.decorator_list)

    def is_hook_of_qt(method: Function) -> bool:
        return not method.name.islower()

    members = [part for part in node.body if isinstance(part, Function)]
    return [method.name for method in members if not is_property(method) and not is_hook_of_qt(method)]


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    """Whether it catches whatever comes and does not raise it again."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    broad = any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in kinds)
    last = handler.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


def test_a_file_stays_short_enough_to_be_read() -> None:
    lengths = {name: len((ROOT / name).read_bytes().splitlines()) for name in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES} == {}


def test_a_function_stays_short_enough_to_be_seen_at_once() -> None:
    too_long = {
        f"{name}: {node.name}": length(node)
        for name, tree in MODULES.items()
        for node in functions(tree)
        if length(node) > (FUNCTION_LINES if name in OURS else TEST_FUNCTION_LINES)
    }
    assert too_long == {}


def test_a_class_has_about_a_dozen_methods() -> None:
    too_many = {
        f"{name}: {node.name}": len(methods(node))
        for name, tree in OURS.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and len(methods(node)) > METHODS
    }
    assert too_many == {}


def test_a_module_says_what_it_is_for() -> None:
    assert [name for name, tree in MODULES.items() if tree.body and not ast.get_docstring(tree)] == []


def test_only_named_places_swallow_every_error() -> None:
    places = {
        name
        for name, tree in OURS.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and swallows_everything(node)
    }
    assert places <= MAY_SWALLOW_EVERYTHING


def test_nothing_is_left_for_later() -> None:
    left = []
    for name in MODULES:
        with (ROOT / name).open("rb") as source:
            comments = [token for token in tokenize.tokenize(source.readline) if token.type == tokenize.COMMENT]
        left += [f"{name}:{token.start[0]}" for token in comments if "TODO" in token.string or "FIXME" in token.string]
    assert left == []


def test_packaging_is_no_package_since_it_would_hide_the_library_of_that_name() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
    assert not (ROOT / "resources" / "__init__.py").exists()


def test_one_module_knows_how_the_program_starts_itself() -> None:
    """A packaged program has no interpreter to call: whoever names sys.executable works from a checkout only."""
    assert {name for name in OURS if "sys.executable" in (ROOT / name).read_text("utf-8")} == {"engine/program.py"}
