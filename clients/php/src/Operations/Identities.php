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
 * @phpstan-import-type IdentityPatch from Shapes
 * @phpstan-import-type IdentityProfile from Shapes
 * @phpstan-import-type IdentityQuery from Shapes
 * @phpstan-import-type NewIdentity from Shapes
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
        return $this->list('/v1/identities', $query);
    }

    /**
     * @param array{verified?: bool} $query
     * @param-out string|null $etag for `ifMatch`
     * @return IdentityProfile
     */
    public function readIdentity(string $identity, array $query = [], ?string &$etag = null): array
    {
        /** @var IdentityProfile */
        return $this->read(Path::fill('/v1/identities/{identity}', $identity), $query, $etag);
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
        return $this->change('PUT', Path::fill('/v1/identities/{identity}', $identity), $body, $query, $ifMatch);
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
        return $this->change('PATCH', Path::fill('/v1/identities/{identity}', $identity), $body, $query, $ifMatch);
    }
}
