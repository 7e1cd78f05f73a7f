<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Macros: saved replies and changes of conversations.
 *
 * @phpstan-import-type AppliedMacro from Shapes
 * @phpstan-import-type Macro from Shapes
 * @phpstan-import-type MacroApplication from Shapes
 * @phpstan-import-type MacroPatch from Shapes
 * @phpstan-import-type NewMacro from Shapes
 */
trait Macros
{
    /**
     * Lists macros, oldest first.
     *
     * @param array{limit?: int, cursor?: string} $query
     * @return Listing<Macro>
     */
    public function listMacros(array $query = []): Listing
    {
        /** @var Listing<Macro> */
        return $this->list(__FUNCTION__, '/v1/macros', $query);
    }

    /**
     * Creates a macro that writes a text, makes changes, or both.
     *
     * @param NewMacro $body
     * @return Macro
     */
    public function createMacro(array $body, ?string $idempotencyKey = null): array
    {
        /** @var Macro */
        return $this->post(__FUNCTION__, '/v1/macros', $body, $idempotencyKey);
    }

    /**
     * @param-out string|null $etag for `ifMatch`
     * @return Macro
     */
    public function readMacro(string $id, ?string &$etag = null): array
    {
        /** @var Macro */
        return $this->read(__FUNCTION__, Path::fill('/v1/macros/{id}', $id), etag: $etag);
    }

    /**
     * Changes a macro; `changes` replaces all changes that it makes.
     *
     * @param MacroPatch $body
     * @return Macro
     */
    public function patchMacro(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Macro */
        return $this->change(__FUNCTION__, 'PATCH', Path::fill('/v1/macros/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Deletes a macro. Messages and changes that it has made are kept. */
    public function deleteMacro(string $id, ?string $ifMatch = null): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/macros/{id}', $id), $ifMatch);
    }

    /**
     * Writes the text of a macro and makes its changes. With `after`, a macro with a text does nothing if somebody has
     * written since: the error is `conversation-moved`, and `force` applies it anyway.
     *
     * @param MacroApplication $body
     * @return AppliedMacro
     */
    public function applyMacro(
        string $id,
        string $macroId,
        array $body = [],
        ?string $idempotencyKey = null,
    ): array {
        $path = Path::fill('/v1/conversations/{id}/macros/{macro_id}', $id, $macroId);
        /** @var AppliedMacro */
        return $this->post(__FUNCTION__, $path, $body ?: null, $idempotencyKey);
    }
}
