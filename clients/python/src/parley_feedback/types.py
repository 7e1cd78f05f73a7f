"""Types of the API, with its names. Times are RFC 3339 in UTC.

Results are plain dictionaries; newer servers may send additional fields.
"""

import sys
from collections.abc import Sequence
from typing import Any, Literal

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required, TypedDict
else:
    from typing_extensions import NotRequired, Required, TypedDict

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
Placement = Literal[
    "inline",
    "popover-top-left",
    "popover-top-center",
    "popover-top-right",
    "popover-bottom-left",
    "popover-bottom-center",
    "popover-bottom-right",
    "modal",
    "button",
]
QuestionStatus = Literal["draft", "scheduled", "live", "paused", "closed", "archived"]
AnswerState = Literal["seen", "dismissed", "partial", "completed"]
ConversationStatus = Literal["open", "pending", "snoozed", "resolved"]
ConversationSource = Literal["user", "api", "member"]
ConversationSort = Literal[
    "-last_activity_at", "last_activity_at", "-created_at", "created_at", "reply_due_at", "waiting_since"
]
AuthorType = Literal["user", "member", "api", "system"]
Priority = Literal["none", "low", "medium", "high", "urgent"]
MessageFormat = Literal["text", "markdown"]
MessageOrder = Literal["asc", "desc"]
Scalar = str | int | float | bool


class Choice(TypedDict, total=False):
    """Selected options: `option_id` for single choice, `option_ids` for multiple choice."""

    option_id: str
    option_ids: list[str]
    other_text: str


AnswerValue = int | float | bool | str | Choice


class NewAnswer(TypedDict):
    """Complete record of one card view. Each sync sends the whole record; the highest revision wins."""

    id: str
    """Client-generated UUID (version 7 or 4) that identifies the answer."""
    revision: int
    identity: str
    """The user who answered."""
    card_id: NotRequired[str]
    question_id: str
    question_version: int
    state: AnswerState
    values: NotRequired[dict[str, AnswerValue]]
    """Values by step key; the question is `main`."""
    comment: NotRequired[str | None]
    displayed_at: NotRequired[str | None]
    answered_at: NotRequired[str | None]
    duration_ms: NotRequired[int | None]
    metadata: NotRequired[dict[str, Scalar]]


class NewAnswers(TypedDict):
    """Answers to record, 1 to 100."""

    client_time: NotRequired[str]
    """The sender's clock, used to correct the times in the answers."""
    answers: list[NewAnswer]


class Receipt(TypedDict):
    """Result of one item of a sync."""

    id: str | None
    revision: int | None
    status: Literal["accepted", "duplicate", "superseded", "rejected"]
    code: NotRequired[str]
    detail: NotRequired[str]
    pointer: NotRequired[str]


class Receipts(TypedDict):
    """One receipt per item, in order."""

    results: list[Receipt]


class Answer(TypedDict):
    """A stored answer."""

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
    """How far the device's clock is ahead of the server's."""
    tags: list[str]
    counted: NotRequired[bool]
    """False if another answer to the same card is counted in the results. Absent from servers before 0.2."""
    over_quota: NotRequired[bool]
    """Whether it was completed beyond the limit of its question. Absent from servers before 0.3."""
    status: Literal["stored"]


class AnswerPatch(TypedDict):
    """Tags that replace those of an answer."""

    tags: list[str]


class PublicTokenRequest(TypedDict):
    """The user id claimed by an app."""

    user_id: str


class PublicToken(TypedDict):
    """A restricted access token; `expires_in` is in seconds."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int


class InspectRequest(TypedDict):
    """A token to validate."""

    token: str


class Inspection(TypedDict):
    """Validation result of a token; `code` is that of the 401 it would cause."""

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
    """Client-generated; a repeated id returns the first conversation."""


class ConversationPatch(TypedDict, total=False):
    """Changes to a conversation."""

    status: ConversationStatus
    snoozed_until: str
    """Required with the status `snoozed`: 1 minute to 1 year ahead."""
    assignee_id: str | None
    tags: list[str]
    """Replaces all tags; not together with `add_tags` and `remove_tags`."""
    add_tags: list[str]
    remove_tags: list[str]
    priority: Priority
    subject: str
    custom: dict[str, Scalar | None]
    """Values of custom fields to set by key; `None` removes one."""
    was: "ConversationSeen"
    """Values that you have seen; if one has changed meanwhile, the change is refused."""


class BulkChange(TypedDict, total=False):
    """One change of many conversations."""

    status: ConversationStatus
    snoozed_until: str
    assignee_id: str | None
    priority: Priority
    add_tags: list[str]
    remove_tags: list[str]
    custom: dict[str, Scalar | None]


class BulkUpdate(TypedDict):
    """One change of up to 100 conversations."""

    ids: list[str]
    change: BulkChange


class BulkResult(TypedDict):
    """The outcome for one conversation."""

    id: str
    status: Literal["changed", "unchanged", "not-found", "conflict"]
    code: NotRequired[str]
    """Only with `conflict`."""


class BulkResults(TypedDict):
    """One result for each id, in order."""

    results: list[BulkResult]


class ConversationMerge(TypedDict):
    """The conversation into which another one of the same user is merged."""

    into: str


class MacroChange(TypedDict, total=False):
    """What a macro changes."""

    status: ConversationStatus
    snooze_for_s: int
    """Required with the status `snoozed`: seconds from when it is applied."""
    assignee_id: str | None
    priority: Priority
    add_tags: list[str]
    remove_tags: list[str]
    custom: dict[str, Scalar | None]


class MacroChangeInput(MacroChange, total=False):
    """What a new macro changes."""


class NewMacro(TypedDict):
    """A macro to create; a saved reply is one with only a `body`."""

    name: str
    shortcut: NotRequired[str | None]
    body: NotRequired[str | None]
    """May recall attributes of the user: `{{identity.attributes.plan|your plan}}`."""
    kind: NotRequired[Literal["reply", "note"]]
    changes: NotRequired[MacroChangeInput]


class MacroPatch(TypedDict, total=False):
    """Changes to a macro; `changes` replaces all of them."""

    name: str
    shortcut: str | None
    body: str | None
    kind: Literal["reply", "note"]
    changes: MacroChangeInput


class Macro(TypedDict):
    """A saved reply, changes of a conversation, or both."""

    id: str
    name: str
    shortcut: str | None
    body: str | None
    kind: Literal["reply", "note"]
    changes: MacroChange
    created_at: str
    updated_at: str


class MacroApplication(TypedDict, total=False):
    """What the one who applies a macro has seen."""

    after: "MessagePosition"
    """The newest messages that you have seen; if somebody has written since, nothing is done."""
    force: bool
    """Apply although somebody has written since."""


class AppliedMacro(TypedDict):
    """A conversation after a macro, and the message that it has written."""

    conversation: "Conversation"
    message: "Message | None"


class ConversationSeen(TypedDict, total=False):
    """Values that the caller has seen before a change."""

    status: ConversationStatus
    assignee_id: str | None
    priority: Priority
    subject: str


class ConversationSourceField(TypedDict):
    """Who started a conversation."""

    type: ConversationSource


class LastMessage(TypedDict):
    """The first 140 characters of the last message."""

    seq: int
    preview: str
    author_type: AuthorType
    at: str


class Conversation(TypedDict):
    """A conversation between one user and the team."""

    id: str
    identity: str
    identity_verified: bool
    subject: str
    status: ConversationStatus
    snoozed_until: NotRequired[str | None]
    priority: NotRequired[Priority]
    assignee_id: NotRequired[str | None]
    tags: NotRequired[list[str]]
    custom: NotRequired[dict[str, Scalar]]
    """Values of custom fields by key."""
    reply_due_at: NotRequired[str | None]
    """Time by which the waiting user should have a reply."""
    source: ConversationSourceField
    last_message: LastMessage
    message_count: int
    unread_count: int
    """From the team's point of view."""
    waiting_since: str | None
    """Since when the user has been waiting for a reply."""
    first_reply_at: str | None
    resolved_at: str | None
    previous_id: str | None
    merged_into_id: NotRequired[str | None]
    created_at: str
    updated_at: str
    last_activity_at: str


class MessagePosition(TypedDict):
    """The newest messages that the author has seen; 0 for none."""

    seq: int
    note_seq: int


class NewMessage(TypedDict):
    """A message to write, at most 10,000 characters."""

    body: str
    format: NotRequired[MessageFormat]
    kind: NotRequired[Literal["reply", "note"]]
    """Notes are visible to the team only."""
    client_message_id: NotRequired[str]
    """Client-generated; a repeated id returns the first message."""
    mentions: NotRequired[list[str]]
    """Members that a note mentions, `member_…`."""
    after: NotRequired[MessagePosition]
    """The newest messages that you have seen; if somebody has written since, nothing is written."""
    force: NotRequired[bool]
    """Write although somebody has written since."""


class MessagePatch(TypedDict):
    """New text of a message."""

    body: str
    format: NotRequired[MessageFormat]


class Author(TypedDict):
    """Author of a message."""

    type: AuthorType
    id: str | None
    name: str | None


class EventReason(TypedDict):
    """Who or what caused a change; `id` is None for a change with an API key.

    `code` is only present when an assignment rule found no member: `members-away` or `members-full`.
    """

    type: str
    id: str | None
    code: NotRequired[str]


# `from` is a keyword, so this type is written as a call.
MessageEvent = TypedDict(
    "MessageEvent",
    {"field": str, "from": object, "to": object, "reason": EventReason},
)
"""A change of a conversation: `field` is the name of the field, such as `status`. Values, not names; members by id."""


class Message(TypedDict):
    """A message of a conversation; replies are numbered from 1; notes and events have a separate sequence."""

    id: str
    conversation_id: str
    seq: int
    author: Author
    kind: Literal["reply", "note", "event"]
    body: str
    format: MessageFormat
    client_message_id: str | None
    mentions: NotRequired[list[str]]
    """Members that a note mentions."""
    event: NotRequired[MessageEvent | None]
    created_at: str
    edited_at: str | None
    redacted: bool


class ReadHorizon(TypedDict):
    """Sequence number of the last read message."""

    seq: int


class Labels(TypedDict, total=False):
    """Labels of the two ends of a scale."""

    low: str
    high: str


class Option(TypedDict):
    """An option."""

    id: str
    label: str


class QuestionConfig(TypedDict, total=False):
    """Config of a question; its members depend on the type."""

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
    """How often a question is shown to a user."""

    repeat: Literal["once", "until_answered", "always", "every_days"]
    every_days: int | None
    max_displays: int | None
    snooze_after_dismiss_days: int
    ignore_cooldown: bool


class Frequency(TypedDict):
    """How often a question is shown to a user."""

    repeat: Literal["once", "until_answered", "always", "every_days"]
    every_days: NotRequired[int | None]
    """Only with `every_days`. Absent before version 0.3 of the server."""
    max_displays: NotRequired[int | None]
    """None: without limit. Absent before version 0.3 of the server."""
    snooze_after_dismiss_days: int
    ignore_cooldown: bool


ComparedValue = str | float | bool | list[str | float | bool]


class DeviceCondition(TypedDict):
    """A comparison of a fact about the device."""

    op: str
    value: NotRequired[ComparedValue]


class AnsweredCondition(TypedDict):
    """A comparison of the user's last answer to another question."""

    question: str
    op: str
    value: NotRequired[bool | float | str | list[bool | float | str]]
    within_days: NotRequired[int | None]


class AudienceNode(TypedDict, total=False):
    """A group of conditions, or one condition. `op` and `value` belong to `attribute`."""

    all: "list[AudienceNode]"
    any: "list[AudienceNode]"
    none: "list[AudienceNode]"
    attribute: str
    op: str
    value: ComparedValue
    platform: DeviceCondition
    app_version: DeviceCondition
    locale: DeviceCondition
    verified: bool
    answered: AnsweredCondition


class Audience(TypedDict, total=False):
    """Who is asked: one group of conditions."""

    all: list[AudienceNode]
    any: list[AudienceNode]
    none: list[AudienceNode]


class NewSchedule(TypedDict, total=False):
    """The period in which a question is shown."""

    start_at: str | None
    end_at: str | None


class Schedule(TypedDict):
    """The period in which a question is shown."""

    start_at: str | None
    end_at: str | None


class PropertyCondition(TypedDict):
    """A comparison of a property of an event."""

    property: str
    op: str
    value: NotRequired[ComparedValue]


class UrlCondition(TypedDict):
    """A comparison of the address of the page."""

    op: Literal["eq", "contains", "starts_with", "ends_with"]
    value: str


class NewTrigger(TypedDict, total=False):
    """What must happen on the device before a card is shown: one of `event` and `click`, or only `url`."""

    event: str | None
    click: str | None
    where: list[PropertyCondition]
    url: UrlCondition | None
    count: int
    delay_s: int
    cancel_on: list[str]


class Trigger(TypedDict):
    """What must happen on the device before a card is shown."""

    event: str | None
    click: str | None
    where: list[PropertyCondition]
    url: UrlCondition | None
    count: int
    delay_s: int
    cancel_on: list[str]


class NewResponseLimit(TypedDict):
    """Maximum number of completed answers."""

    count: int
    per: NotRequired[Literal["total", "day", "week", "month"]]


class ResponseLimit(TypedDict):
    """Maximum number of completed answers."""

    count: int
    per: Literal["total", "day", "week", "month"]


class Condition(TypedDict):
    """A comparison of the value of an earlier step."""

    step: str
    op: str
    value: NotRequired[bool | float | str | list[bool | float | str]]


class ShowIf(TypedDict, total=False):
    """When a step is shown: the members of one condition, or several conditions in ``all`` or ``any``."""

    step: str
    op: str
    value: bool | float | str | list[bool | float | str]
    all: list[Condition]
    any: list[Condition]


class NewFollowUp(TypedDict):
    """A step after the question itself, which may depend on earlier answers."""

    key: str
    type: QuestionType
    title: str
    description: NotRequired[str]
    config: NotRequired[QuestionConfig]
    required: NotRequired[bool]
    show_if: NotRequired[ShowIf | None]


class FollowUp(TypedDict):
    """A step after the question itself."""

    key: str
    type: QuestionType
    title: str
    description: str
    config: QuestionConfig
    required: bool
    show_if: ShowIf | None


class LabelTranslation(TypedDict, total=False):
    """The labels of a scale in another language."""

    low: str
    high: str


class ConfigTranslation(TypedDict, total=False):
    """The texts of a `config` in another language; `options` has labels by id."""

    labels: LabelTranslation
    options: dict[str, str]


class StepTranslation(TypedDict, total=False):
    """The texts of a follow-up in another language."""

    title: str
    description: str
    config: ConfigTranslation


class ThanksLinkTranslation(TypedDict, total=False):
    """The text of the link in another language."""

    label: str


class ThanksTranslation(TypedDict, total=False):
    """The texts of the thanks in another language."""

    title: str
    body: str
    link: ThanksLinkTranslation


class Translation(StepTranslation, total=False):
    """The texts of a question in another language; `follow_ups` by key."""

    follow_ups: dict[str, StepTranslation]
    thanks: ThanksTranslation


class ThanksLink(TypedDict):
    """Link below the thanks, with http or https."""

    label: str
    url: str


class NewThanks(TypedDict):
    """The text shown after an answer."""

    title: str
    body: NotRequired[str]
    link: NotRequired[ThanksLink | None]


class Thanks(TypedDict):
    """The text shown after an answer."""

    title: str
    body: str
    link: ThanksLink | None


class NewQuestion(TypedDict):
    """A question to create; the `config` depends on the type."""

    type: QuestionType
    title: str
    name: NotRequired[str]
    description: NotRequired[str]
    config: NotRequired[QuestionConfig]
    follow_ups: NotRequired[list[NewFollowUp]]
    locale: NotRequired[str]
    translations: NotRequired[dict[str, Translation]]
    thanks: NotRequired[NewThanks | None]
    audience: NotRequired[Audience | None]
    schedule: NotRequired[NewSchedule]
    trigger: NotRequired[NewTrigger | None]
    frequency: NotRequired[NewFrequency]
    sampling_percent: NotRequired[float]
    response_limit: NotRequired[NewResponseLimit | None]
    allow_public: NotRequired[bool]
    priority: NotRequired[int]
    placement: NotRequired[Placement | None]


class QuestionTemplate(TypedDict):
    """A common question to start from."""

    id: str
    name: str
    description: str
    question: NewQuestion


class QuestionTemplates(TypedDict):
    """The question templates in one language."""

    data: list[QuestionTemplate]


class QuestionPatch(TypedDict, total=False):
    """Changes to a question. Type and language of a published question cannot be changed."""

    type: QuestionType
    title: str
    name: str
    description: str
    config: QuestionConfig
    follow_ups: list[NewFollowUp]
    locale: str
    translations: dict[str, Translation]
    thanks: NewThanks | None
    audience: Audience | None
    schedule: NewSchedule
    trigger: NewTrigger | None
    frequency: NewFrequency
    sampling_percent: float
    response_limit: NewResponseLimit | None
    allow_public: bool
    priority: int
    placement: Placement | None


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
    follow_ups: NotRequired[list[FollowUp]]
    """Absent before version 0.2 of the server."""
    locale: NotRequired[str]
    """Absent before version 0.3 of the server."""
    translations: NotRequired[dict[str, Translation]]
    """Absent before version 0.3 of the server."""
    thanks: NotRequired[Thanks | None]
    """None: the default text. Absent before version 0.3 of the server."""
    audience: NotRequired[Audience | None]
    """None: everyone. Absent before version 0.3 of the server, like the other rules."""
    schedule: NotRequired[Schedule]
    trigger: NotRequired[Trigger | None]
    frequency: Frequency
    sampling_percent: NotRequired[float]
    response_limit: NotRequired[ResponseLimit | None]
    allow_public: bool
    priority: int
    placement: NotRequired[Placement | None]
    """None: that of the tenant's appearance. Absent before version 0.3 of the server."""
    created_at: str
    updated_at: str
    published_at: str | None
    closed_at: str | None


class Interval(TypedDict):
    """95% confidence interval of a score."""

    low: float
    high: float


class Score(TypedDict):
    """Score of a question.

    `nps`: percentage of 9 and 10 minus percentage of 0 to 6 (-100 to 100); `csat`: percentage of 4 and 5; `mean`: mean
    of the values; `positive`: percentage of true.
    """

    measure: Literal["nps", "csat", "mean", "positive"]
    value: float | None
    answers: int
    interval: Interval | None


class ResultsSummary(TypedDict):
    """Summary of a question's results."""

    displays: int
    answered: int
    response_rate: float | None
    score: Score | None
    answered_7_days: int


class QuestionListItem(Question):
    """A question in a list, with `results` if requested."""

    results: NotRequired[ResultsSummary]


class Change(TypedDict):
    """A change of a version; None if the value was absent before or after."""

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
    follow_ups: NotRequired[list[FollowUp]]
    """Absent before version 0.2 of the server."""
    locale: NotRequired[str]
    """Absent before version 0.3 of the server."""
    translations: NotRequired[dict[str, Translation]]
    """Absent before version 0.3 of the server."""
    thanks: NotRequired[Thanks | None]
    """Absent before version 0.3 of the server."""
    created_at: str
    changes: list[Change]


class ValueCount(TypedDict):
    """Count of a value; `share` is 0 to 1."""

    value: int | bool | str
    label: NotRequired[str]
    count: int
    share: float | None


class Figures(TypedDict):
    """Aggregated answers. `response_rate` is answered ÷ displays, 0 to 1."""

    displays: int
    answered: int
    response_rate: float | None
    score: Score | None
    values: list[ValueCount]


class PeriodFigures(Figures):
    """Results of a day, week or month."""

    start: str


class VersionFigures(Figures):
    """Results of a version."""

    version: int


# `from` is a Python keyword, so the functional syntax is needed.
ResultsRange = TypedDict("ResultsRange", {"from": str | None, "to": str | None})


class StepFigures(TypedDict):
    """How many saw a step, and what they did there."""

    key: str
    type: QuestionType
    title: str
    shown: int
    """The sum of the next three."""
    answered: int
    skipped: int
    left: int
    """Answers that ended at this step."""
    score: Score | None
    values: list[ValueCount]


class Results(ResultsRange, Figures):
    """Results of a question: total, over time and by version."""

    question_id: str
    type: QuestionType
    group_by: Literal["day", "week", "month"]
    version: int | None
    verified: bool | None
    step: NotRequired[str]
    """The step whose figures these are; absent before version 0.2 of the server."""
    test: NotRequired[bool]
    """Whether these are the results of test answers; absent before version 0.2 of the server."""
    seen: int
    dismissed: int
    partial: int
    completed: int
    written: int
    """Answers with a comment or a text."""
    steps: NotRequired[list[StepFigures]]
    """All steps in order; absent before version 0.2 of the server."""
    over_time: list[PeriodFigures]
    versions: list[VersionFigures]


class NewIdentity(TypedDict, total=False):
    """Profile of a user: up to 50 attributes; strings up to 256 characters, numbers or booleans."""

    attributes: dict[str, Scalar]
    locale: str | None
    platform: str | None
    app_version: str | None


class IdentityPatch(TypedDict, total=False):
    """Changes to a user; attributes set to None are removed, omitted ones are unchanged."""

    attributes: dict[str, Scalar | None]
    locale: str | None
    platform: str | None
    app_version: str | None


class IdentityItem(TypedDict, total=False):
    """Changes to one user of a batch; the verified identity unless `verified` is False."""

    identity: Required[str]
    verified: bool
    attributes: dict[str, Scalar | None]
    locale: str | None
    platform: str | None
    app_version: str | None


class IdentityBatch(TypedDict):
    """Changes to up to 100 users."""

    identities: list[IdentityItem]


class IdentityResult(TypedDict):
    """Outcome for one user of a batch."""

    identity: str | None
    verified: bool | None
    status: Literal["created", "updated", "unchanged", "rejected"]
    code: NotRequired[str]
    """Code of the first fault of a rejected item."""
    detail: NotRequired[str]
    """The rule that a rejected item breaks."""
    pointer: NotRequired[str]
    """JSON Pointer of the fault within a rejected item."""


class IdentityResults(TypedDict):
    """Outcomes of a batch, in the order of its items."""

    results: list[IdentityResult]


class IdentityAttribute(TypedDict):
    """An attribute in use, with up to five of its most frequent values."""

    name: str
    types: list[Literal["string", "number", "boolean", "date"]]
    values: list[Scalar]


class IdentityAttributes(TypedDict):
    """The attributes in use."""

    data: list[IdentityAttribute]


class GateDecision(TypedDict):
    """Whether a gate lets the card pass."""

    gate: str
    """`status`, `schedule`, `public`, `frequency`, `sampling`, `limit`, `audience` or `cooldown`."""
    passed: bool
    passes_at: str | None
    """The time from which it passes if nothing else changes."""


class CardDecision(TypedDict):
    """Whether a user sees the card of a question, and why not."""

    question_id: str
    name: str
    shown: bool
    gates: list[GateDecision]


class CardDecisions(TypedDict):
    """The decision on the card of each question for a user."""

    identity: str
    verified: bool
    data: list[CardDecision]


class ReachRequest(TypedDict, total=False):
    """Rules to evaluate instead of those of the question."""

    audience: Audience | None
    sampling_percent: float


class Reach(TypedDict):
    """The number of people whom a question would reach now, of those who were shown a card last."""

    judged: int
    reached: int
    withheld: dict[str, int]
    """The number of others by the first gate that fails."""


class IdentityProfile(TypedDict):
    """Profile of a user."""

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
    """Ingestion counters of the tenant: totals since its creation, and the queue."""

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


EventType = Literal[
    "answer.stored",
    "answer.updated",
    "answer.completed",
    "answer.deleted",
    "answers.expired",
    "conversation.created",
    "conversation.updated",
    "conversation.status_changed",
    "conversation.assigned",
    "conversation.deleted",
    "message.created",
    "message.updated",
    "message.redacted",
    "identity.updated",
    "question.published",
    "question.updated",
    "question.closed",
    "api_key.created",
    "api_key.revoked",
    "webhook.disabled",
]
EventObjectType = Literal["answer", "conversation", "message", "identity", "question", "api_key", "webhook", "tenant"]
DeliveryStatus = Literal["delivered", "failed", "waiting"]
WebhookPayload = Literal["full", "thin"]
WebhookStatus = Literal["enabled", "disabled"]


class EventActor(TypedDict):
    """Who caused an event. `id` is `member_…` or `key_…`; None for a user and for the system."""

    type: Literal["member", "api_key", "user", "system"]
    id: str | None


class EventObject(TypedDict):
    """The object that an event is about. `id` is None for an identity without a profile."""

    type: EventObjectType
    id: str | None
    verified: NotRequired[bool]
    conversation_id: NotRequired[str]


# `from` is not a name in Python.
ChangedField = TypedDict(
    "ChangedField",
    {
        "field": str,
        "name": str | None,
        "from": Scalar | None,
        "to": Scalar | None,
    },
)
"""A field of a profile: `attribute` with its `name`, `locale`, `platform` or `app_version`. The values before and
after are None if it was not set, or if it has been removed since."""


class ProfileChange(TypedDict):
    """Fields of a profile that changed together."""

    number: int
    """Identifies the change among those of the user; the latest is the highest."""
    at: str
    by: EventActor
    changes: list[ChangedField]


# `from` is not a name in Python.
EventData = TypedDict(
    "EventData",
    {
        "from": str | None,
        "to": str | None,
        "by": EventActor,
        "count": int,
        "object": dict[str, Any] | None,
    },
    total=False,
)
"""What an event says itself, and `object` as it is now, None when it is gone."""


class Event(TypedDict):
    """An event. `id` is the same in every delivery and in the feed. Newer servers send further types."""

    id: str
    type: EventType
    sequence: int
    timestamp: str
    tenant_id: str
    object: EventObject
    data: EventData


class WebhookEventData(EventData, total=False):
    """What an event says itself. Without the object, `href` is its address in the API, or None."""

    href: str | None


class WebhookEvent(TypedDict):
    """An event as a webhook receives it. A test has no `sequence`. Newer servers send further types."""

    id: str
    type: EventType | Literal["webhook.test"]
    sequence: NotRequired[int]
    timestamp: str
    tenant_id: str
    object: EventObject
    data: WebhookEventData


class NewWebhook(TypedDict):
    """A new webhook."""

    url: str
    description: NotRequired[str]
    event_types: Sequence[EventType]
    payload: NotRequired[WebhookPayload]
    ordered: NotRequired[bool]


class WebhookPatch(TypedDict, total=False):
    """Changes to a webhook. `resume` only with the status `enabled`."""

    url: str
    description: str
    event_types: Sequence[EventType]
    payload: WebhookPayload
    ordered: bool
    status: WebhookStatus
    resume: Literal["continue", "now"]


class WebhookRotation(TypedDict, total=False):
    """Options of a rotation: hours for which requests are also signed with the previous secret, 24 by default."""

    overlap_hours: float


# `from` is not a name in Python.
WebhookReplay = TypedDict(
    "WebhookReplay",
    {"from": Required[str], "to": str, "types": Sequence[EventType]},
    total=False,
)
"""Which events are sent again."""


class ReplayCount(TypedDict):
    """Number of events that are sent again."""

    count: int


class WebhookLag(TypedDict):
    """Events that are not delivered yet, and the age of the oldest."""

    events: int
    seconds: int


class Webhook(TypedDict):
    """A webhook. `secret` is present only in the replies to its creation and rotation."""

    id: str
    url: str
    description: str
    event_types: list[EventType]
    payload: WebhookPayload
    ordered: bool
    status: WebhookStatus
    disabled_reason: Literal["manual", "gone", "failing"] | None
    lag: WebhookLag
    previous_secret_until: str | None
    created_at: str
    updated_at: str
    secret: NotRequired[str]


class Delivery(TypedDict):
    """An attempt to send an event to a webhook."""

    id: str
    event_id: str
    sequence: int | None
    type: EventType | Literal["webhook.test"]
    attempt: int
    at: str
    status: DeliveryStatus
    response_status: int | None
    duration_ms: int | None
    error: str | None
    response: str | None
