<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * User profiles. `verified` selects the identity verified by your backend (the default) or the unverified one of the
 * same name.
 *
 * @phpstan-import-type CardDecisions from Shapes
 * @phpstan-import-type CardDecisionsQuery from Shapes
 * @phpstan-import-type IdentityAttribute from Shapes
 * @phpstan-import-type IdentityItem from Shapes
 * @phpstan-import-type IdentityPatch from Shapes
 * @phpstan-import-type IdentityProfile from Shapes
 * @phpstan-import-type IdentityQuery from Shapes
 * @phpstan-import-type IdentityResult from Shapes
 * @phpstan-import-type NewIdentity from Shapes
 * @phpstan-import-type ProfileChange from Shapes
 * @phpstan-import-type ProfileChangeQuery from Shapes
 */
trait Identities
{
    /**
     * @param IdentityQuery $query
     * @return Listing<IdentityProfile>
     */
    public function listIdentities(array $query = []): Listing
    {
        /** @var Listing<IdentityProfile> */
        return $this->list(__FUNCTION__, '/v1/identities', $query);
    }

    /**
     * @param array{verified?: bool} $query
     * @param-out string|null $etag for `ifMatch`
     * @return IdentityProfile
     */
    public function readIdentity(string $identity, array $query = [], ?string &$etag = null): array
    {
        /** @var IdentityProfile */
        return $this->read(__FUNCTION__, Path::fill('/v1/identities/{identity}', $identity), $query, $etag);
    }

    /**
     * Creates or replaces the profile of a user.
     *
     * @param NewIdentity $body
     * @param array{verified?: bool} $query
     * @return IdentityProfile
     */
    public function putIdentity(string $identity, array $body, array $query = [], ?string $ifMatch = null): array
    {
        /** @var IdentityProfile */
        return $this->change(__FUNCTION__, 'PUT', Path::fill('/v1/identities/{identity}', $identity), $body, $query, $ifMatch);
    }

    /**
     * Updates a profile: attributes set to null are removed, omitted ones are unchanged.
     *
     * @param IdentityPatch $body
     * @param array{verified?: bool} $query
     * @return IdentityProfile
     */
    public function patchIdentity(string $identity, array $body, array $query = [], ?string $ifMatch = null): array
    {
        /** @var IdentityProfile */
        return $this->change(__FUNCTION__, 'PATCH', Path::fill('/v1/identities/{identity}', $identity), $body, $query, $ifMatch);
    }

    /**
     * Creates or updates up to 100 users. Each item has its own result, in order.
     *
     * @param array{identities: list<IdentityItem>} $body
     * @return array{results: list<IdentityResult>}
     */
    public function saveIdentities(array $body, ?string $idempotencyKey = null): array
    {
        /** @var array{results: list<IdentityResult>} */
        return $this->post(__FUNCTION__, '/v1/identities', $body, $idempotencyKey);
    }

    /**
     * Lists the last 50 changes of a profile within 90 days, latest first.
     *
     * @param ProfileChangeQuery $query
     * @return Listing<ProfileChange>
     */
    public function listProfileChanges(string $identity, array $query = []): Listing
    {
        /** @var Listing<ProfileChange> */
        return $this->list(__FUNCTION__, Path::fill('/v1/identities/{identity}/changes', $identity), $query);
    }

    /**
     * Returns names, types and most frequent values of the attributes in use.
     *
     * @return array{data: list<IdentityAttribute>}
     */
    public function readIdentityAttributes(): array
    {
        /** @var array{data: list<IdentityAttribute>} */
        return $this->read(__FUNCTION__, '/v1/identity-attributes');
    }

    /**
     * Returns which cards a user sees, and why not the others.
     *
     * @param CardDecisionsQuery $query the device, by default that of the profile
     * @return CardDecisions
     */
    public function readCardDecisions(string $identity, array $query = []): array
    {
        /** @var CardDecisions */
        return $this->read(__FUNCTION__, Path::fill('/v1/identities/{identity}/card-decisions', $identity), $query);
    }
}
