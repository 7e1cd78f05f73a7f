from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from contract import contract
from either import KINDS, Kind, Network, connect

from parley_feedback import ParleyError


def replies(pages: list[Any]) -> list[httpx.Response]:
    made = []
    for number, page in enumerate(pages, 1):
        if isinstance(page, dict):
            made.append(httpx.Response(page["status"], json={"code": page["code"]}))
        else:
            more = number < len(pages)
            body = {"data": page, "has_more": more, "next_cursor": f"c{number}" if more else None}
            made.append(httpx.Response(200, json=body))
    return made


def read_as_the_case_says(kind: Kind, operation: str, case: dict[str, Any], pages: list[httpx.Response]) -> None:
    network = Network(*pages)
    caller = connect(kind, network)
    items: list[Any] = []
    failure = None
    try:
        caller.collect(operation, **case["query"], take=case["take"], into=items)
    except ParleyError as error:
        failure = error.kind
    caller.close()
    assert (items, failure) == (case["items"], case.get("failure"))
    assert [dict(parse_qsl(request.url.query.decode())) for request in network.sent] == case["requests"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", contract("pages"), ids=lambda case: case["name"])
def test_a_list_is_read_as_the_case_says(case: dict[str, Any], kind: Kind) -> None:
    read_as_the_case_says(kind, "listConversations", case, replies(case["pages"]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_can_be_gone_through_twice_and_its_first_page_taken_alone(kind: Kind) -> None:
    network = Network(*replies([[1], [2]]), *replies([[1], [2]]), *replies([[1], [2]])[:1])
    caller = connect(kind, network)
    pages = caller.client.questions.list()
    for _ in range(2):
        items: list[Any] = []
        caller.collect_pages(pages, None, items)
        assert items == [1, 2]
    page = caller.page("listQuestions")
    assert (page.data, page.has_more, page.next_cursor) == ([1], True, "c1")


def feed_replies(pages: list[dict[str, Any]]) -> list[httpx.Response]:
    made = []
    for number, page in enumerate(pages, 1):
        if "status" in page:
            made.append(httpx.Response(page["status"], json={"code": page["code"]}))
        else:
            made.append(httpx.Response(200, json={**page, "has_more": number < len(pages)}))
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", contract("feed"), ids=lambda case: case["name"])
def test_the_feed_is_read_as_the_case_says(case: dict[str, Any], kind: Kind) -> None:
    read_as_the_case_says(kind, "readEvents", case, feed_replies(case["pages"]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_the_feed_says_where_the_next_one_starts(kind: Kind) -> None:
    page = connect(kind, Network(httpx.Response(200, json={"data": [], "has_more": False, "last": 7}))).page(
        "readEvents"
    )
    assert (page.data, page.has_more, page.last) == ([], False, 7)
