"""The main flow with the Python client of openapi-generator; runs in its folder. Prints what it saw as JSON."""

import json
import os
import sys
import time
import uuid
from datetime import datetime, timezone

sys.path.insert(0, os.getcwd())

from openapi_client import (
    AnswerBatch,
    AnswerInput,
    AnswersApi,
    AnswerValue,
    ApiClient,
    CardsApi,
    Configuration,
    ConversationInput,
    ConversationPatch,
    ConversationsApi,
    MessageInput,
    NpsConfig,
    NpsQuestionInput,
    QuestionInput,
    QuestionPatch,
    QuestionsApi,
    ScaleLabels,
    TokensApi,
)
from openapi_client.exceptions import ApiException, NotFoundException


def client_of(url: str, credential: str) -> ApiClient:
    # Without `retries=0`, urllib3 waits for `Retry-After` and repeats a request that gets 429.
    return ApiClient(Configuration(host=os.environ[url], access_token=os.environ[credential], retries=0))


def until(attempt):
    """Repeats until there is a result."""
    for _ in range(100):
        found = attempt()
        if found is not None:
            return found
        time.sleep(0.1)
    raise TimeoutError("no result after 10 s")


def failure_of(call):
    """The exception of a call that fails, or None."""
    try:
        call()
    except ApiException as error:
        return error
    return None


team = client_of("PARLEY_URL", "PARLEY_KEY")
user = client_of("PARLEY_URL", "PARLEY_TOKEN")
questions = QuestionsApi(team)

labels = NpsConfig(labels=ScaleLabels(low="no"))
question = questions.create_question(
    QuestionInput(NpsQuestionInput(type="nps", title="How likely?", config=labels)),
    idempotency_key=str(uuid.uuid4()),
)
published = questions.publish_question(question.id)


def find_card():
    cards = CardsApi(user).list_cards(limit=20).data
    return next((card for card in cards if card.question_id == question.id), None)


card = until(find_card)
answer = AnswerInput(
    id=uuid.uuid4(),
    revision=1,
    card_id=card.id,
    question_id=card.question_id,
    question_version=card.question_version,
    state="completed",
    values={"main": AnswerValue(9)},
    displayed_at=datetime.now(timezone.utc),
)
answers = AnswersApi(user)
receipts = answers.record_answers(AnswerBatch(answers=[answer]))


def find_answer():
    try:
        return answers.read_answer(answer.id).actual_instance
    except NotFoundException:
        return None


stored = until(find_answer)
results = questions.read_results(question.id, group_by="month")

ConversationsApi(user).create_conversation(ConversationInput(message="Hello"))
conversations = ConversationsApi(team).list_conversations(limit=100, verified=True)

stale = failure_of(lambda: questions.patch_question(question.id, QuestionPatch(priority=5), if_match='"old"'))

me = TokensApi(user).who_am_i().actual_instance
conditional = os.environ["PARLEY_QUESTION"]
asked = next(card for card in CardsApi(user).list_cards().data if card.question_id == conditional)
patched = questions.patch_question(conditional, QuestionPatch(priority=5))
thread = conversations.data[0].id
message = ConversationsApi(team).create_message(thread, MessageInput(body="Yes?"))
resolved = ConversationsApi(team).patch_conversation(thread, ConversationPatch(status="resolved"))

limited = QuestionsApi(client_of("PARLEY_LIMITED_URL", "PARLEY_KEY"))
refused = until(lambda: failure_of(limited.list_questions))

tomorrow = client_of("PARLEY_TOMORROW_URL", "PARLEY_KEY")
later_card = CardsApi(tomorrow).list_cards().data[0]
later = ConversationsApi(tomorrow).list_conversations().data[0]
failed = failure_of(lambda: QuestionsApi(tomorrow).read_question(question.id))

print(
    json.dumps(
        {
            "created": question.status,
            "published": published.status,
            "receipts": [receipt.status for receipt in receipts.results],
            "answer": stored.state,
            "completed": results.completed,
            "conversations": len(conversations.data),
            "stale": stale.status,
            "retry": int(refused.headers["Retry-After"]) > 0,
            "changes": {
                "me": me.identity,
                "condition": asked.steps[1].show_if.value.actual_instance,
                "priority": patched.priority,
                "message": message.kind,
                "conversation": resolved.status,
            },
            "tomorrow": [later_card.steps[0].type, later.status, failed.data.code],
        }
    )
)
