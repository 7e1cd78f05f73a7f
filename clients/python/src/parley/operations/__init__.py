"""Registry of the operations available to an API key."""

from .answers import Answers
from .conversations import Conversations
from .identities import Identities
from .ingestion import Ingesting
from .messages import Messages
from .questions import Questions
from .tokens import Tokens


class Operations(Answers, Conversations, Messages, Questions, Identities, Ingesting, Tokens):
    """Operations of a server client, named as in the OpenAPI document."""
