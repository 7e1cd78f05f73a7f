"""The resources of an API key."""

from typing import Generic

from ..drivers import D
from .answers import Answers
from .conversations import Conversations
from .events import Events
from .identities import Identities
from .ingestion import IngestionCounters, Quarantine
from .macros import Macros
from .messages import Messages
from .questions import Questions
from .tokens import Tokens
from .webhooks import Webhooks


class Resources(Generic[D]):
    """The operations of a server client, by resource."""

    def __init__(self, driver: D) -> None:
        self._bind(driver)

    def _bind(self, driver: D) -> None:
        self._driver = driver
        self.answers = Answers(driver)
        self.conversations = Conversations(driver)
        self.events = Events(driver)
        self.identities = Identities(driver)
        self.ingestion = IngestionCounters(driver)
        self.macros = Macros(driver)
        self.messages = Messages(driver)
        self.quarantine = Quarantine(driver)
        self.questions = Questions(driver)
        self.tokens = Tokens(driver)
        self.webhooks = Webhooks(driver)
