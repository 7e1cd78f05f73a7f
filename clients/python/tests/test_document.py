"""Checks that operations, parameters and fields match the OpenAPI document."""

import inspect
import typing
from typing import Any

import pytest
from contract import document, snake
from typing_extensions import is_typeddict

from parley import AsyncClient, Client, types
from parley.operations import Operations

DOCUMENT = document()
METHODS = {"get", "post", "put", "patch", "delete"}

# The names that the document has for our types, where they differ.
NAMES = {
    "NewAnswer": "AnswerInput",
    "NewAnswers": "AnswerBatch",
    "NewConversation": "ConversationInput",
    "NewFrequency": "FrequencyInput",
    "NewIdentity": "IdentityInput",
    "NewMessage": "MessageInput",
    "NewQuestion": "QuestionInput",
    "Author": "MessageAuthor",
    "LastMessage": "MessagePreview",
    "ConversationSourceField": "ConversationSource",
    "Option": "ChoiceOption",
    "Choice": "ChoiceValue",
}
# API keys have no user of their own, so answers and conversations must name one.
STRICTER = {"AnswerInput": {"identity"}, "ConversationInput": {"identity"}}
# Defaulted by the server.
LOOSER = {"AnswerInput": {"values", "metadata"}}
# Not sent by earlier server versions.
ABSENT_BEFORE = {"Answer": {"counted"}}
# Operations deduplicated by client-generated ids instead of idempotency keys.
UNKEYED = {"record_answers"}


def operations() -> dict[str, Any]:
    found = {}
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS & set(item):
            schemes = {name for scheme in item[method].get("security", []) for name in scheme}
            if schemes & {"apiKey", "publicKey"}:
                found[snake(item[method]["operationId"])] = {"method": method, "path": path, **item[method]}
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
    ours = {name for name in dir(Operations) if not name.startswith("_")}
    assert ours == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_takes_what_the_document_names(name: str) -> None:
    described = OPERATIONS[name]
    parameters = inspect.signature(getattr(Client, name)).parameters
    sent = [resolve(parameter) for parameter in described.get("parameters", [])]
    query = {p["name"] for p in sent if p["in"] == "query"}
    positional = [p["name"] for p in sent if p["in"] == "path"]
    if "requestBody" in described:
        positional.append("body")
    named = {f"{name}_" if name == "from" else name for name in query}
    if name == "issue_public_token":
        named.add("public_key_id")
    elif described["method"] == "post" and name not in UNKEYED:
        named.add("idempotency_key")
    if "412" in described["responses"]:
        named.add("if_match")
    by_position = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert by_position == ["self", *positional]
    assert {p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY} == named


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_what_it_does(name: str) -> None:
    client = Client("https://feedback.example.com", "sk_test")
    written = inspect.getdoc(getattr(Client, name))
    assert written
    assert inspect.getdoc(getattr(client, name)) == written
    assert inspect.getdoc(getattr(AsyncClient, name)) == written
    assert "self" not in inspect.signature(getattr(client, name)).parameters
    client.close()


@pytest.mark.parametrize("name", resource_types())
def test_a_type_has_the_fields_of_its_schema(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    alternatives = [resolve(each) for each in schema.get("oneOf") or schema.get("anyOf") or [schema]]
    fields = {field for each in alternatives for field in each["properties"]}
    required = set.intersection(*[set(each.get("required", [])) for each in alternatives])
    made = resource_types()[name]
    assert set(typing.get_type_hints(made)) == fields
    optional = LOOSER.get(name, set()) | ABSENT_BEFORE.get(name, set())
    assert set(made.__required_keys__) == (required | STRICTER.get(name, set())) - optional


def test_every_schema_of_our_operations_has_a_type() -> None:
    text = str(list(OPERATIONS.values()))
    used = {name for name in DOCUMENT["components"]["schemas"] if f"schemas/{name}'" in text}
    without_pages = {name for name in used if not name.endswith("Page")}  # `Page` is generic
    assert without_pages - set(resource_types()) == {"Problem", "AnswerView"}  # an error, and the view of public tokens
