"""Keeps the failures of Schemathesis that exceptions.toml does not explain."""

import json
import re
import tomllib
from pathlib import Path

import schemathesis

EXCEPTIONS = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text())


def problem_of(response) -> dict:
    """The problem document of a response; empty if it has none."""
    try:
        document = json.loads(response.content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def is_at(place: str, fields: list[str]) -> bool:
    """Whether a pointer or a parameter is one of the fields of an exception; `*` stands for one segment, `**` for any."""
    patterns = (re.escape(field).replace(r"\*\*", ".*").replace(r"\*", "[^/]*") for field in fields)
    return any(re.fullmatch(pattern, place, re.DOTALL) for pattern in patterns)


def explains_fault(exception: dict, fault: dict) -> bool:
    """Whether an exception explains one of the faults in a problem."""
    place = fault.get("pointer", fault.get("parameter", ""))
    is_of_kind = exception.get("fault", fault["code"]) == fault["code"]
    return "code" not in exception and is_of_kind and is_at(place, exception.get("fields", ["**"]))


def is_explained_refusal(problem: dict) -> bool:
    """Whether exceptions explain that a request was refused although it matches the document."""
    refusals = EXCEPTIONS["refusal"]
    if any(refusal.get("code") == problem.get("code") for refusal in refusals):
        return True
    faults = problem.get("errors", [])
    return len(faults) > 0 and all(any(explains_fault(refusal, fault) for refusal in refusals) for fault in faults)


def is_explained(failure, case, response) -> bool:
    """Whether an exception explains a failure."""
    if type(failure).__name__ == "RejectedPositiveData":
        return is_explained_refusal(problem_of(response))
    label = f"{case.method} {case.path}"
    return any(
        exception["failure"] == type(failure).__name__
        and response.status_code == exception.get("status", response.status_code)
        and label in exception.get("operations", [label])
        for exception in EXCEPTIONS.get("failure", [])
    )


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Called by Schemathesis for each failure: false drops it."""
    return not is_explained(failure, case, response)
