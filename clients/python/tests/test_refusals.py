import json
from typing import Any

import httpx
import pytest
from contract import contract
from either import KINDS, Kind, Network, connect

from parley_feedback import ParleyError


def answer(number: int) -> dict[str, Any]:
    return {"id": str(number), "revision": 1, "identity": "user|1", "question_id": "q", "question_version": 1}


def reply(case: dict[str, Any], sent: list[int]) -> httpx.Response:
    if "body" in case:
        return httpx.Response(case["status"], text=case["body"])
    if "code" in case:
        return httpx.Response(case["status"], json={"title": "Refused", "status": case["status"], "code": case["code"]})
    results = [{"id": str(number), "revision": 1, "status": "accepted"} for number in sent]
    return httpx.Response(case["status"], json={"results": results} if case["status"] == httpx.codes.ACCEPTED else {})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", contract("refusals"), ids=lambda case: case["name"])
def test_an_answer_that_is_refused_does_not_hold_back_the_others(case: dict[str, Any], kind: Kind) -> None:
    network = Network(*map(reply, case["replies"], case["sent"]))
    caller = connect(kind, network)
    failure = None
    results: list[Any] = []
    try:
        results = caller.call("recordAnswers", [answer(n) for n in range(1, case["answers"] + 1)])["results"]
    except ParleyError as error:
        failure = error.kind
    caller.close()
    sent = [[int(each["id"]) for each in json.loads(request.content)["answers"]] for request in network.sent]
    assert (sent, failure) == (case["sent"], case.get("failure"))
    if failure is None:
        assert [each["id"] for each in results] == [str(n) for n in range(1, case["answers"] + 1)]
        assert [{"rejected": each["code"]} if "code" in each else each["status"] for each in results] == case["results"]
