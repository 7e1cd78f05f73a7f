"""Contract cases shared by all clients (`clients/contract/README.md`)."""

import json
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[3]


def contract(name: str) -> Any:
    return json.loads((PROJECT / "clients" / "contract" / f"{name}.json").read_text("utf-8"))


def document() -> Any:
    return json.loads((PROJECT / "docs" / "openapi.json").read_text("utf-8"))


def arguments(case: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a case for this client: path parameters, then keyword arguments."""
    given = {**case.get("query", {}), **case.get("body", {})}
    named = {f"{name}_" if name == "from" else name: value for name, value in given.items()}
    if "if_match" in case:
        named["if_match"] = case["if_match"]
    return list(case.get("params", {}).values()), named
