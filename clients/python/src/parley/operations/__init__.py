"""Every operation that an API key may call: the registry."""

from .answers import Answers
from .conversations import Conversations
from .identities import Identities
from .ingestion import Ingesting
from .messages import Messages
from .questions import Questions
from .tokens import Tokens


class Operations(Answers, Conversations, Messages, Questions, Identities, Ingesting, Tokens):
    """The operations of a server client, under the names of the OpenAPI document."""
