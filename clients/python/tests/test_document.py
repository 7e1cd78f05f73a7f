"""Checks that operations, parameters and fields match the OpenAPI document."""

import inspect
import typing
from pathlib import Path
from typing import Any

import pytest
from contract import document
from either import OPERATIONS as OURS
from either import method_of
from typing_extensions import is_typeddict

from parley_feedback import AsyncClient, Client, types

DOCUMENT = document()
METHODS = {"get", "post", "put", "patch", "delete"}

# The names that the document has for our types, where they differ.
NAMES = {
    "NewWebhook": "WebhookInput",
    "NewAnswer": "AnswerInput",
    "NewAnswers": "AnswerBatch",
    "NewConversation": "ConversationInput",
    "NewFollowUp": "FollowUpInput",
    "NewFrequency": "FrequencyInput",
    "NewIdentity": "IdentityInput",
    "NewMacro": "MacroInput",
    "NewMessage": "MessageInput",
    "NewQuestion": "QuestionInput",
    "NewResponseLimit": "ResponseLimitInput",
    "NewSchedule": "ScheduleInput",
    "NewTrigger": "TriggerInput",
    "NewThanks": "ThanksInput",
    "Author": "MessageAuthor",
    "LastMessage": "MessagePreview",
    "ConversationSourceField": "ConversationSource",
    "StepFigures": "StepResults",
    "Option": "ChoiceOption",
    "Choice": "ChoiceValue",
}
# API keys have no user of their own, so answers and conversations must name one.
STRICTER = {"AnswerInput": {"identity"}, "ConversationInput": {"identity"}}
# Defaulted by the server.
LOOSER = {"AnswerInput": {"values", "metadata"}}
# Not sent by earlier server versions.
RULES = {"audience", "schedule", "trigger", "sampling_percent", "response_limit"}
ABSENT_BEFORE = {
    "Answer": {"counted", "over_quota"},
    "Conversation": {"merged_into_id"},
    "Message": {"event", "mentions"},
    "Question": {"follow_ups", "locale", "translations", "thanks", "placement"} | RULES,
    "QuestionListItem": {"follow_ups", "locale", "translations", "thanks", "placement"} | RULES,
    "Frequency": {"every_days", "max_displays"},
    "QuestionVersion": {"follow_ups", "locale", "translations", "thanks"},
    "Results": {"test", "step", "steps"},
}
# Query parameters for members of the team.
OF_MEMBERS = {"listConversations": {"mentioned"}}
# Operations deduplicated by client-generated ids instead of idempotency keys.
UNKEYED = {"recordAnswers"}
# Fields of a body that are passed by position.
MAIN = {"recordAnswers": "answers", "inspectToken": "token", "saveIdentities": "identities"}

CLIENT = Client("https://feedback.example.com", "sk_test")
ASYNC_CLIENT = AsyncClient("https://feedback.example.com", "sk_test")


def operations() -> dict[str, Any]:
    found = {}
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS & set(item):
            schemes = {name for scheme in item[method].get("security", []) for name in scheme}
            if schemes & {"apiKey", "publicKey"}:
                found[item[method]["operationId"]] = {"method": method, "path": path, **item[method]}
    return found


OPERATIONS = operations()


def resolve(described: dict[str, Any]) -> dict[str, Any]:
    """Follows a reference to a component."""
    while "$ref" in described:
        _, kind, name = described["$ref"].removeprefix("#/").split("/")
        described = DOCUMENT["components"][kind][name]
    return described


def resource_types() -> dict[str, Any]:
    """Returns the types by the document's name of their schema."""
    named = DOCUMENT["components"]["schemas"]
    ours = {NAMES.get(name, name): made for name, made in vars(types).items() if is_typeddict(made)}
    return {name: made for name, made in ours.items() if name in named}


def test_the_clients_have_every_operation_of_an_api_key_and_no_other() -> None:
    assert len(OPERATIONS) > 35
    assert set(OURS) == set(OPERATIONS)


def fields_of(schema: dict[str, Any]) -> set[str]:
    schema = resolve(schema)
    alternatives = [resolve(each) for each in schema.get("oneOf") or schema.get("anyOf") or [schema]]
    return {field for each in alternatives for field in each["properties"]}


def fields_taken(parameters: dict[str, inspect.Parameter]) -> set[str]:
    """Returns the names of keyword arguments, with those of an `Unpack`."""
    named = {p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY}
    rest = [p.annotation.__args__[0] for p in parameters.values() if p.kind is p.VAR_KEYWORD]
    return named | {field for each in rest for field in typing.get_type_hints(each)}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_takes_what_the_document_names(name: str) -> None:
    described = OPERATIONS[name]
    parameters = dict(inspect.signature(method_of(CLIENT, name)).parameters)
    sent = [resolve(parameter) for parameter in described.get("parameters", [])]
    query = {p["name"] for p in sent if p["in"] == "query"} - OF_MEMBERS.get(name, set())
    positional = [p["name"] for p in sent if p["in"] == "path"]
    named = set(query)
    if "requestBody" in described:
        named |= fields_of(next(iter(described["requestBody"]["content"].values()))["schema"])
    named = {f"{name}_" if name == "from" else name for name in named}
    if name in MAIN:
        positional.append(MAIN[name])
        named.remove(MAIN[name])
    if name == "issuePublicToken":
        named.add("public_key_id")
    elif described["method"] == "post" and name not in UNKEYED:
        named.add("idempotency_key")
    if any(parameter["name"] == "If-Match" for parameter in sent):
        named.add("if_match")
    by_position = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert by_position == positional
    assert fields_taken(parameters) == named


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_what_it_does(name: str) -> None:
    written = inspect.getdoc(method_of(CLIENT, name))
    assert written
    assert inspect.getdoc(method_of(ASYNC_CLIENT, name)) == written
    assert "self" not in inspect.signature(method_of(CLIENT, name)).parameters


@pytest.mark.parametrize("name", resource_types())
def test_a_type_has_the_fields_of_its_schema(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    alternatives = [resolve(each) for each in schema.get("oneOf") or schema.get("anyOf") or [schema]]
    fields = fields_of(schema)
    required = set.intersection(*[set(each.get("required", [])) for each in alternatives])
    made = resource_types()[name]
    assert set(typing.get_type_hints(made)) == fields
    optional = LOOSER.get(name, set()) | ABSENT_BEFORE.get(name, set())
    assert set(made.__required_keys__) == (required | STRICTER.get(name, set())) - optional


def test_every_schema_of_our_operations_has_a_type() -> None:
    text = str(list(OPERATIONS.values()))
    schemas = DOCUMENT["components"]["schemas"]
    used = {name for name in schemas if f"schemas/{name}'" in text}
    without_pages = {name for name in used if not name.endswith("Page")}  # `Page` is generic
    objects = {name for name in without_pages if schemas[name].get("type") != "string"}  # no filters
    assert objects - set(resource_types()) == {"AnswerView"}  # the view of public tokens


def test_the_readme_lists_every_operation() -> None:
    rows = Path(__file__).parent.parent.joinpath("README.md").read_text().splitlines()
    listed = {
        f"{name}.{method}"
        for row in rows
        if row.startswith("| `")
        for names, methods in [row.strip("| ").split(" | ")]
        for name, group in zip(names.split(", "), methods.split("; "), strict=True)
        for method in group.split(", ")
    }
    assert {each.replace("`", "") for each in listed} == {".".join(each) for each in OURS.values()}
