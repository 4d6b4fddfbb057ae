"""What the code imports is declared, and what is declared is imported or named here with its reason."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement

from tests.repo.tree import PACKAGES, PRODUCT, modules, normalised, pyproject, text

NOT_IMPORTED = {
    "httptools": "uvicorn takes it where it is installed",
    "h11": "comes with uvicorn; here for its floor",
}
TOGETHER = {
    "opentelemetry": "opentelemetry-sdk",  # one name space, many distributions
    "pydantic_core": "pydantic",  # pinned by it to the digit
}


def names(requirements: Iterable[str]) -> set[str]:
    return {normalised(Requirement(line).name) for line in requirements}


def imported(*folders: str) -> set[str]:
    """The distributions behind the imports of these folders."""
    roots = set()
    for path in modules(*folders):
        for node in ast.walk(ast.parse(text(path))):
            if isinstance(node, ast.Import):
                roots |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                roots.add(node.module.split(".")[0])
    foreign = roots - set(PACKAGES) - sys.stdlib_module_names
    owners = packages_distributions()
    return {TOGETHER.get(root) or normalised(owners[root][0]) for root in foreign}


def test_product_code_imports_declared_packages_only() -> None:
    project = pyproject()["project"]
    runtime, demo = names(project["dependencies"]), names(project["optional-dependencies"]["demo"])
    assert imported(*PRODUCT) <= runtime
    assert imported("loadtests") <= runtime | demo


def test_every_runtime_dependency_is_used() -> None:
    runtime = {name for name in names(pyproject()["project"]["dependencies"]) if "opentelemetry" not in name}
    assert runtime - imported(*PACKAGES) == set(NOT_IMPORTED)
