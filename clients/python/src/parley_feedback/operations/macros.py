"""Macros: saved replies and changes of conversations."""

from typing_extensions import Unpack

from ..calls import Call, delete, get, get_page, patch, path, post
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import Macro, MacroPatch, NewMacro

_ALL = "/v1/macros"
_ONE = "/v1/macros/{id}"


class Macros(Resource[D_co]):
    """Saved replies and changes of conversations. Scopes: `conversations:read`, `conversations:write`."""

    @listing("listMacros")
    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[Macro]]:
        """Lists macros, oldest first.

        Args:
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(_ALL, {"limit": limit, "cursor": cursor})

    @operation("createMacro")
    def create(self, *, idempotency_key: str | None = None, **macro: Unpack[NewMacro]) -> Call[Macro]:
        """Creates a macro that writes a `body`, makes `changes`, or both."""
        return post(_ALL, macro, idempotency_key)

    @operation("readMacro")
    def read(self, id: str) -> Call[Macro]:
        """Returns a macro."""
        return get(path(_ONE, id=id))

    @operation("patchMacro")
    def update(self, id: str, *, if_match: str | None = None, **changes: Unpack[MacroPatch]) -> Call[Macro]:
        """Changes a macro; `changes` replaces all changes that it makes."""
        return patch(path(_ONE, id=id), changes, if_match=if_match)

    @operation("deleteMacro")
    def delete(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes a macro."""
        return delete(path(_ONE, id=id), if_match)
