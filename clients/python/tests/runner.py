"""Runs a part of `clients/contract/scenario.json` against a real server, as described in its README.

In addition, `PARLEY_PYTHON_CLIENT=async` selects the asynchronous client.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from contract import arguments
from either import Either

from parley_feedback import AsyncClient, Client, ParleyError, RetryPolicy, sign_token

Step = dict[str, Any]

PATIENCE_S = 15
"""Timeout for asynchronous effects."""


class StepError(Exception):
    """A step did not have the expected result."""


def demand(actual: object, expected: object) -> None:
    if actual != expected:
        raise StepError(f"expected {expected!r}, got {actual!r}")


def say(**line: object) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)


class Journal:
    """Journal of answers, one per line. Incomplete lines are ignored."""

    def __init__(self, folder: str) -> None:
        self._path = Path(folder) / "journal.jsonl"

    def write(self, answer: dict[str, Any]) -> None:
        line = json.dumps(answer).encode() + b"\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line)
        os.fsync(file)
        os.close(file)

    def read(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        whole, _, _ = self._path.read_bytes().rpartition(b"\n")
        return [json.loads(line) for line in whole.splitlines()]


class Runner:
    """Has one method per step."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        policy = RetryPolicy(base_ms=int(environment.get("PARLEY_RETRY_BASE_MS", "500")))
        make = AsyncClient if environment.get("PARLEY_PYTHON_CLIENT") == "async" else Client
        self._either = Either(make(environment["SERVICE_BASE_URL"], environment["SERVICE_API_KEY"], retry=policy))
        self._journal = Journal(environment["PARLEY_STATE"])
        self._saved = {"language": "Python"}

    def play(self, step: Step) -> None:
        getattr(self, step["do"])(self._filled(step))

    def _filled(self, value: Any) -> Any:
        """Replaces `{name}` with saved values."""
        if isinstance(value, dict):
            return {name: self._filled(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._filled(member) for member in value]
        if isinstance(value, str):
            for name, saved in self._saved.items():
                value = value.replace(f"{{{name}}}", saved)
        return value

    def sign(self, step: Step) -> None:
        self._saved[step["as"]] = sign_token(
            step["user"],
            key_id=self._environment["SERVICE_API_KEY_ID"],
            secret=self._environment["SERVICE_API_KEY_SECRET"],
            tenant_id=self._environment["SERVICE_TENANT_ID"],
        )

    def inspect(self, step: Step) -> None:
        token = self._saved.get(step["token"], step["token"])
        inspection = self._either.call("inspectToken", token)
        demand((inspection["valid"], inspection["code"]), (step["valid"], step["code"]))

    def call(self, step: Step) -> None:
        positional, named = arguments(step.get("arguments", {}))
        try:
            result = self._either.call(step["operation"], *positional, **named)
        except ParleyError as error:
            demand((error.kind, error.code), (step.get("failure"), step.get("code")))
            return
        demand(None, step.get("failure"))
        expected = step.get("expect", {})
        demand({name: result[name] for name in expected}, expected)
        self._saved |= {name: result[field] for name, field in step.get("save", {}).items()}

    def iterate(self, step: Step) -> None:
        positional, named = arguments(step["arguments"])

        def check() -> None:
            items: list[Any] = []
            self._either.collect(step["operation"], *positional, into=items, **named)
            demand(len(items), step["count"])

        until_right(check) if step.get("wait") else check()

    def record_answers(self, step: Step) -> None:
        answers = [an_answer(step["question"], step["identity"], value) for value in step["values"]]
        receipts = self._either.call("recordAnswers", answers)["results"]
        demand([receipt["status"] for receipt in receipts], step["statuses"])

    def record_many(self, step: Step) -> None:
        question = self._persist(self._find_question, step["question"])
        for number in range(step["count"]):
            answer = an_answer(question, step["identity"], number % 5 + 1)
            self._journal.write(answer)
            say(recorded=answer["id"], identity=step["identity"])
            time.sleep(step["pause_ms"] / 1000)

    def drain(self, _: Step) -> None:
        for batch in batches(self._journal.read()):
            receipts = self._persist(self._either.call, "recordAnswers", batch)
            demand({receipt["status"] for receipt in receipts["results"]} - {"accepted", "duplicate"}, set())

    def call_many(self, step: Step) -> None:
        for number in range(1, step["count"] + 1):
            body = {"identity": step["identity"], "message": f"Message {number}"}
            self._persist(self._either.call, step["operation"], **body, idempotency_key=f"many-{number}")

    def _find_question(self, title: str) -> str:
        questions: list[Any] = []
        self._either.collect("listQuestions", into=questions, limit=100)
        return next(str(question["id"]) for question in questions if question["title"] == title)

    def _persist(self, attempt: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Retries after the client gives up, as a backend's queue would."""
        while True:
            try:
                return attempt(*args, **named)
            except ParleyError as error:
                if not error.retryable:
                    raise


def until_right(check: Callable[[], None]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return check()
        except StepError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def an_answer(question: str, identity: str, value: object) -> dict[str, Any]:
    return {
        "id": str(uuid4()),
        "revision": 1,
        "identity": identity,
        "question_id": question,
        "question_version": 1,
        "state": "completed",
        "values": {"main": value},
    }


def batches(answers: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    return (answers[start : start + 100] for start in range(0, len(answers), 100))


def main() -> int:
    try:
        scenario = json.loads(Path(os.environ["PARLEY_SCENARIO"]).read_text("utf-8"))
        part = next(part for part in scenario["parts"] if part["name"] == sys.argv[1])
    except (KeyError, IndexError, StopIteration) as error:
        print(f"started wrongly: {error!r}", file=sys.stderr)
        return 2
    if part["needs"] != "server":
        return 3
    runner = Runner(dict(os.environ))
    for index, step in enumerate(part["steps"]):
        try:
            runner.play(step)
        except (StepError, ParleyError) as error:
            say(step=index, do=step["do"], passed=False, detail=str(error))
            return 1
        say(step=index, do=step["do"], passed=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
