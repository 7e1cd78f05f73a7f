"""Not run: what type checkers accept and refuse. Checked by mypy and pyright, both strict."""

from collections.abc import Coroutine
from typing import Any

from typing_extensions import assert_type

from parley_feedback import AsyncClient, AsyncPages, Client, Pages, Reply, types


def types_of_the_sync_client(client: Client) -> None:
    assert_type(client.answers.read("id"), types.Answer)
    assert_type(client.answers.read.reply("id"), Reply[types.Answer])
    assert_type(client.answers.list(limit=1), Pages[types.Answer])
    assert_type(client.answers.delete("id"), None)
    assert_type(client.questions.create(type="nps", title="How likely?"), types.Question)
    assert_type(client.questions.update("id", title="How likely?", if_match='"v1"'), types.Question)
    assert_type(client.with_options(timeout_s=1).ingestion.read(), types.Ingestion)
    for answer in client.answers.list():
        assert_type(answer["state"], types.AnswerState)
    client.answers.read(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.answers.list(limt=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.questions.create(type="npss", title="")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.questions.create(type="nps")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.questions.update("id", titel="")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.answers.record([{"id": ""}])  # type: ignore[typeddict-item]  # pyright: ignore[reportArgumentType]


async def types_of_the_async_client(client: AsyncClient) -> None:
    waiting: Coroutine[Any, Any, types.Answer] = client.answers.read("id")
    assert_type(await waiting, types.Answer)
    assert_type(await client.answers.read.reply("id"), Reply[types.Answer])
    assert_type(client.answers.list(limit=1), AsyncPages[types.Answer])
    assert_type(await client.conversations.create(identity="user|42", message="Hi"), types.Conversation)
    await client.answers.read(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
