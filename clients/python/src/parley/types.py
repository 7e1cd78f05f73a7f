"""What goes over the wire, under the names that it has there. Every time is RFC 3339 in UTC.

Results are dictionaries as they came: a newer server may send fields that are not named here.
"""

import sys
from typing import Literal

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

QuestionType = Literal[
    "nps",
    "csat",
    "ces",
    "rating",
    "thumbs",
    "single_choice",
    "multi_choice",
    "text",
    "date",
    "consent",
    "statement",
]
QuestionStatus = Literal["draft", "live", "paused", "closed", "archived"]
AnswerState = Literal["seen", "dismissed", "partial", "completed"]
ConversationStatus = Literal["open", "pending", "resolved"]
ConversationSource = Literal["user", "api", "member"]
ConversationSort = Literal["-last_activity_at", "last_activity_at", "-created_at", "created_at"]
AuthorType = Literal["user", "member", "api", "system"]
Priority = Literal["none", "low", "medium", "high", "urgent"]
MessageFormat = Literal["text", "markdown"]
Scalar = str | int | float | bool


class Choice(TypedDict, total=False):
    """What was chosen: `option_id` of a single choice, `option_ids` of a multiple one."""

    option_id: str
    option_ids: list[str]
    other_text: str


AnswerValue = int | float | bool | str | Choice


class NewAnswer(TypedDict):
    """The record of one card view, whole: each sync carries everything, and the highest revision wins."""

    id: str
    """A UUID that you make (version 7, or 4); the same one again is the same answer."""
    revision: int
    identity: str
    """Whose answer it is."""
    card_id: NotRequired[str]
    question_id: str
    question_version: int
    state: AnswerState
    values: NotRequired[dict[str, AnswerValue]]
    """By step; the question itself is `main`."""
    comment: NotRequired[str | None]
    displayed_at: NotRequired[str | None]
    answered_at: NotRequired[str | None]
    duration_ms: NotRequired[int | None]
    metadata: NotRequired[dict[str, Scalar]]


class NewAnswers(TypedDict):
    """Answers to record, 1 to 100."""

    client_time: NotRequired[str]
    """The clock of the sender, by which the times in the answers are put right."""
    answers: list[NewAnswer]


class Receipt(TypedDict):
    """What became of one item of a sync."""

    id: str | None
    revision: int | None
    status: Literal["accepted", "duplicate", "superseded", "rejected"]
    code: NotRequired[str]
    detail: NotRequired[str]
    pointer: NotRequired[str]


class Receipts(TypedDict):
    """One receipt an item, in order."""

    results: list[Receipt]


class Answer(TypedDict):
    """An answer as it is stored."""

    id: str
    revision: int
    card_id: str
    question_id: str
    question_version: int
    state: AnswerState
    values: dict[str, AnswerValue]
    comment: str | None
    displayed_at: str | None
    answered_at: str | None
    duration_ms: int | None
    metadata: dict[str, Scalar]
    identity: str
    identity_verified: bool
    received_at: str
    stored_at: str
    updated_at: str
    clock_skew_ms: int | None
    """How far the device's clock is ahead of Parley's."""
    tags: list[str]
    counted: NotRequired[bool]
    """False while another answer to the same card is counted in the results. Absent from servers before 0.2."""
    status: Literal["stored"]


class AnswerPatch(TypedDict):
    """Labels, in place of those that an answer has."""

    tags: list[str]


class PublicTokenRequest(TypedDict):
    """Whom an app says that its user is."""

    user_id: str


class PublicToken(TypedDict):
    """A restricted access token; `expires_in` is in seconds."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int


class InspectRequest(TypedDict):
    """A token to look into."""

    token: str


class Inspection(TypedDict):
    """What is wrong with a token; `code` is what the 401 would carry."""

    valid: bool
    code: str | None
    detail: str
    header: dict[str, object] | None
    claims: dict[str, object] | None
    key_kind: Literal["server", "public"] | None


class NewConversation(TypedDict):
    """A conversation to start with the user that `identity` names."""

    subject: NotRequired[str]
    message: str
    """The first message, at most 10,000 characters."""
    identity: str
    client_message_id: NotRequired[str]
    """Made by you; the same one again gives the first conversation."""


class ConversationPatch(TypedDict, total=False):
    """What to change of a conversation."""

    status: ConversationStatus
    assignee_id: str | None
    tags: list[str]
    priority: Priority
    subject: str


class ConversationSourceField(TypedDict):
    """Who began a conversation."""

    type: ConversationSource


class LastMessage(TypedDict):
    """The first 140 characters of the last message."""

    seq: int
    preview: str
    author_type: AuthorType
    at: str


class Conversation(TypedDict):
    """Messages between one user and the team."""

    id: str
    identity: str
    identity_verified: bool
    subject: str
    status: ConversationStatus
    priority: NotRequired[Priority]
    assignee_id: NotRequired[str | None]
    tags: NotRequired[list[str]]
    source: ConversationSourceField
    last_message: LastMessage
    message_count: int
    unread_count: int
    """Of the team."""
    waiting_since: str | None
    """Since when the user waits for a reply."""
    first_reply_at: str | None
    resolved_at: str | None
    previous_id: str | None
    created_at: str
    updated_at: str
    last_activity_at: str


class NewMessage(TypedDict):
    """A message to write, at most 10,000 characters."""

    body: str
    format: NotRequired[MessageFormat]
    kind: NotRequired[Literal["reply", "note"]]
    """A note is for the team alone."""
    client_message_id: NotRequired[str]
    """Made by you; the same one again gives the first message."""


class MessagePatch(TypedDict):
    """Another text for a message."""

    body: str
    format: NotRequired[MessageFormat]


class Author(TypedDict):
    """Who wrote a message."""

    type: AuthorType
    id: str | None
    name: str | None


class Message(TypedDict):
    """A message of a conversation; replies count from 1, notes and events have a sequence of their own."""

    id: str
    conversation_id: str
    seq: int
    author: Author
    kind: Literal["reply", "note", "event"]
    body: str
    format: MessageFormat
    client_message_id: str | None
    created_at: str
    edited_at: str | None
    redacted: bool


class ReadHorizon(TypedDict):
    """Up to which message everything was read."""

    seq: int


class Labels(TypedDict, total=False):
    """What stands at the two ends of a scale."""

    low: str
    high: str


class Option(TypedDict):
    """Something to choose."""

    id: str
    label: str


class QuestionConfig(TypedDict, total=False):
    """What a question is set to; which members there are follows from its type."""

    scale: int
    style: Literal["number", "smiley", "star"]
    labels: Labels
    options: list[Option]
    allow_other: bool
    shuffle: bool
    min: int
    max: int
    min_length: int
    max_length: int
    input: Literal["text", "email", "url", "number"]
    url: str


class NewFrequency(TypedDict, total=False):
    """How often a user gets to see a question."""

    repeat: Literal["once", "until_answered", "always"]
    snooze_after_dismiss_days: int
    ignore_cooldown: bool


class Frequency(TypedDict):
    """How often a user gets to see a question."""

    repeat: Literal["once", "until_answered", "always"]
    snooze_after_dismiss_days: int
    ignore_cooldown: bool


class NewQuestion(TypedDict):
    """A question to create; which `config` it takes follows from its type."""

    type: QuestionType
    title: str
    name: NotRequired[str]
    description: NotRequired[str]
    config: NotRequired[QuestionConfig]
    frequency: NotRequired[NewFrequency]
    allow_public: NotRequired[bool]
    priority: NotRequired[int]


class QuestionPatch(TypedDict, total=False):
    """What to change of a question. The type of a published one can't change."""

    type: QuestionType
    title: str
    name: str
    description: str
    config: QuestionConfig
    frequency: NewFrequency
    allow_public: bool
    priority: int


class Question(TypedDict):
    """A question."""

    id: str
    name: str
    status: QuestionStatus
    version: int
    type: QuestionType
    title: str
    description: str
    config: QuestionConfig
    frequency: Frequency
    allow_public: bool
    priority: int
    created_at: str
    updated_at: str
    published_at: str | None
    closed_at: str | None


class Interval(TypedDict):
    """Between what a figure lies, with 95 % confidence."""

    low: float
    high: float


class Score(TypedDict):
    """The figure of a question.

    `nps` is the share of 9 and 10 less that of 0 to 6 (-100 to 100), `csat` the share of 4 and 5 in percent, `mean`
    that of the scale, `positive` the share of true in percent.
    """

    measure: Literal["nps", "csat", "mean", "positive"]
    value: float | None
    answers: int
    interval: Interval | None


class ResultsSummary(TypedDict):
    """The figures of a question's answers in short."""

    displays: int
    answered: int
    response_rate: float | None
    score: Score | None
    answered_7_days: int


class QuestionListItem(Question):
    """A question in a list, with `results` where they were asked for."""

    results: NotRequired[ResultsSummary]


class Change(TypedDict):
    """What a version changed; None where there was, or is, none."""

    pointer: str
    before: object
    after: object


class QuestionVersion(TypedDict):
    """An immutable version of a question."""

    question_id: str
    version: int
    type: QuestionType
    title: str
    description: str
    config: QuestionConfig
    created_at: str
    changes: list[Change]


class ValueCount(TypedDict):
    """How often a value was given; `share` is 0 to 1."""

    value: int | bool | str
    label: NotRequired[str]
    count: int
    share: float | None


class Figures(TypedDict):
    """What answers come to. `response_rate` is answered ÷ displays, 0 to 1."""

    displays: int
    answered: int
    response_rate: float | None
    score: Score | None
    values: list[ValueCount]


class PeriodFigures(Figures):
    """The figures of a day, week or month."""

    start: str


class VersionFigures(Figures):
    """The figures of a version."""

    version: int


# `from` is a word of Python: only this form can name it.
ResultsRange = TypedDict("ResultsRange", {"from": str | None, "to": str | None})


class Results(ResultsRange, Figures):
    """What a question's answers come to, as a whole, over time and by version."""

    question_id: str
    type: QuestionType
    group_by: Literal["day", "week", "month"]
    version: int | None
    verified: bool | None
    seen: int
    dismissed: int
    partial: int
    completed: int
    written: int
    """Answers with a comment or a text."""
    over_time: list[PeriodFigures]
    versions: list[VersionFigures]


class NewIdentity(TypedDict, total=False):
    """Everything that is said of a user: at most 50 attributes, text of at most 256 characters, numbers, booleans."""

    attributes: dict[str, Scalar]
    locale: str | None
    platform: str | None
    app_version: str | None


class IdentityPatch(TypedDict, total=False):
    """What to change of a user; an attribute that is None goes, one that is not named stays."""

    attributes: dict[str, Scalar | None]
    locale: str | None
    platform: str | None
    app_version: str | None


class IdentityProfile(TypedDict):
    """What is known of a user."""

    identity: str
    verified: bool
    attributes: dict[str, Scalar]
    locale: str | None
    platform: str | None
    app_version: str | None
    first_seen_at: str | None
    last_seen_at: str | None
    answer_count: int
    conversation_count: int
    status: Literal["active"]


class Ingestion(TypedDict):
    """Where the tenant's answers are: totals since it exists, and what is in the queue."""

    oldest_queued_age_ms: int | None
    queued: int
    accepted: int
    stored: int
    repeated: int
    quarantined: int
    rejected: int
    first_card_at: str | None


class QuarantinedAnswer(TypedDict):
    """An accepted answer that could not be stored, with its reason."""

    id: str
    answer_id: str
    reason: str
    detail: str
    payload: dict[str, object]
    quarantined_at: str
