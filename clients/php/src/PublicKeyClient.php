<?php

declare(strict_types=1);

namespace Parley;

/**
 * Issues public access tokens by the id of a public key (specification 4.2): restricted tokens for unverified users.
 * Backends that can sign tokens should use `TokenSigner` instead.
 *
 * @phpstan-import-type PublicToken from Shapes
 */
final class PublicKeyClient
{
    private readonly Caller $caller;

    /**
     * @param string $keyId ID of a public key, `key_…`
     * @param bool $allowHttp also accept `http://` for other hosts than localhost
     * @throws ParleyException insecure-url
     */
    public function __construct(
        string $baseUrl,
        string $keyId,
        ?RetryPolicy $retry = null,
        ?Wire $wire = null,
        bool $allowHttp = false,
    ) {
        if (!str_starts_with($keyId, 'key_')) {
            throw new \InvalidArgumentException('keyId must be the id of a public API key, key_…');
        }
        $authorization = 'Basic ' . base64_encode("api_key:$keyId");
        $base = BaseUrl::check($baseUrl, $allowHttp);
        $wire ??= Wire::open(usesProxies: str_starts_with($base, 'https:'));
        $this->caller = new Caller($base, $authorization, $retry ?? new RetryPolicy(), $wire);
    }

    /**
     * Issues a token for a claimed user id, valid for an hour.
     *
     * @param array{user_id: string} $body
     * @return PublicToken
     * @throws ParleyException unauthenticated, forbidden (`api-key-not-public`), rate-limited
     */
    public function issuePublicToken(string $tenantId, array $body): array
    {
        $path = Path::fill('/v1/tenants/{tenant_id}/issuers/public/auth/token', $tenantId);
        /** @var PublicToken */
        return $this->caller->call(new Call(__FUNCTION__, 'POST', $path, body: $body))->body;
    }
}
