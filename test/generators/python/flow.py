"""The main flow with the client of openapi-python-client. Prints what it saw as JSON."""

import json
import os
import sys
import time
import uuid
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "generated"))

from parley_client import AuthenticatedClient
from parley_client.api.answers import read_answer, record_answers
from parley_client.api.cards import list_cards
from parley_client.api.conversations import (
    create_conversation,
    create_message,
    list_conversations,
    patch_conversation,
)
from parley_client.api.questions import (
    create_question,
    list_questions,
    patch_question,
    publish_question,
    read_question,
    read_results,
)
from parley_client.api.tokens import who_am_i
from parley_client.models import (
    AnswerBatch,
    AnswerInput,
    AnswerInputState,
    AnswerInputValues,
    ConversationInput,
    ConversationPatch,
    ConversationPatchStatus,
    MessageInput,
    NpsConfig,
    NpsQuestionInput,
    QuestionPatch,
    ReadResultsGroupBy,
    ScaleLabels,
)


def client_of(url: str, credential: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ[url], token=os.environ[credential])


def until(attempt):
    """Repeats until there is a result."""
    for _ in range(100):
        found = attempt()
        if found is not None:
            return found
        time.sleep(0.1)
    raise TimeoutError("no result after 10 s")


team = client_of("PARLEY_URL", "PARLEY_KEY")
user = client_of("PARLEY_URL", "PARLEY_TOKEN")

made = create_question.sync_detailed(
    client=team,
    idempotency_key=str(uuid.uuid4()),
    body=NpsQuestionInput(type_="nps", title="How likely?", config=NpsConfig(labels=ScaleLabels(low="no"))),
)
question = made.parsed
published = publish_question.sync(question.id, client=team)


def find_card():
    cards = list_cards.sync(client=user, limit=20).data
    return next((card for card in cards if card.question_id == question.id), None)


card = until(find_card)
values = AnswerInputValues()
values["main"] = 9
answer = AnswerInput(
    id=uuid.uuid4(),
    revision=1,
    card_id=card.id,
    question_id=card.question_id,
    question_version=card.question_version,
    state=AnswerInputState.COMPLETED,
    values=values,
    displayed_at=datetime.now(timezone.utc),
)
receipts = record_answers.sync(client=user, body=AnswerBatch(answers=[answer]))


def find_answer():
    reply = read_answer.sync_detailed(answer.id, client=user)
    return reply.parsed if reply.status_code == 200 else None


stored = until(find_answer)
results = read_results.sync(question.id, client=team, group_by=ReadResultsGroupBy.MONTH)

create_conversation.sync(client=user, body=ConversationInput(message="Hello"))
conversations = list_conversations.sync(client=team, limit=100, verified=True)

stale = patch_question.sync_detailed(question.id, client=team, if_match='"old"', body=QuestionPatch(priority=5))

me = who_am_i.sync(client=user)
conditional = os.environ["PARLEY_QUESTION"]
asked = next(card for card in list_cards.sync(client=user).data if card.question_id == conditional)
patched = patch_question.sync(conditional, client=team, body=QuestionPatch(priority=5))
thread = conversations.data[0].id
message = create_message.sync(thread, client=team, body=MessageInput(body="Yes?"))
resolved = patch_conversation.sync(
    thread, client=team, body=ConversationPatch(status=ConversationPatchStatus.RESOLVED)
)

limited = client_of("PARLEY_LIMITED_URL", "PARLEY_KEY")


def find_refusal():
    reply = list_questions.sync_detailed(client=limited)
    return reply if reply.status_code == 429 else None


refused = until(find_refusal)

tomorrow = client_of("PARLEY_TOMORROW_URL", "PARLEY_KEY")
later_card = list_cards.sync(client=tomorrow).data[0]
later = list_conversations.sync(client=tomorrow).data[0]
failed = read_question.sync(question.id, client=tomorrow)

print(
    json.dumps(
        {
            "created": question.status,
            "published": published.status,
            "receipts": [receipt.status for receipt in receipts.results],
            "answer": stored.state,
            "completed": results.completed,
            "conversations": len(conversations.data),
            "stale": int(stale.status_code),
            "retry": int(refused.headers["Retry-After"]) > 0,
            "changes": {
                "me": me.identity,
                "condition": asked.steps[1].show_if.value,
                "priority": patched.priority,
                "message": message.kind,
                "conversation": resolved.status,
            },
            "tomorrow": [later_card.steps[0].type_, later.status, failed.code],
        }
    )
)
