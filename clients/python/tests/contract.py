"""Contract cases shared by all clients (`clients/contract/README.md`)."""

import json
import re
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[3]


def contract(name: str) -> Any:
    return json.loads((PROJECT / "clients" / "contract" / f"{name}.json").read_text("utf-8"))


def document() -> Any:
    return json.loads((PROJECT / "docs" / "openapi.json").read_text("utf-8"))


def snake(operation: str) -> str:
    """Operation name in snake case."""
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", operation)


def arguments(case: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a case for this client: path parameters, body, then keyword arguments."""
    body = [case["body"]] if "body" in case else []
    named = {f"{name}_" if name == "from" else name: value for name, value in case.get("query", {}).items()}
    if "if_match" in case:
        named["if_match"] = case["if_match"]
    return [*case.get("params", {}).values(), *body], named
