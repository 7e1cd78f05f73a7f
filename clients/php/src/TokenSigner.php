<?php

declare(strict_types=1);

namespace Parley;

use Lcobucci\JWT\Configuration;
use Lcobucci\JWT\Signer\Hmac\Sha256;
use Lcobucci\JWT\Signer\Key\InMemory;

/** Signs access tokens for a tenant's users (specification 5.3). Needs `lcobucci/jwt`. */
final class TokenSigner
{
    /** Maximum and default token lifetime. */
    public const LIFETIME_S = 3600;

    private const CONTENT_TYPE = 'svc-fpa;v=1';

    private readonly Configuration $jwt;

    /** @var non-empty-string */
    private readonly string $keyId;

    /** @var non-empty-string */
    private readonly string $tenantId;

    /** @var \Closure(): float */
    private readonly \Closure $now;

    /**
     * @param string $keyId `key_…`, SERVICE_API_KEY_ID
     * @param string $secret SERVICE_API_KEY_SECRET, the signing secret; not the `sk_…` value for requests
     * @param string $tenantId `tenant_…`, SERVICE_TENANT_ID
     * @param (\Closure(): float)|null $now seconds since 1970
     */
    public function __construct(
        string $keyId,
        #[\SensitiveParameter] string $secret,
        string $tenantId,
        ?\Closure $now = null,
    ) {
        if (!class_exists(Configuration::class)) {
            throw new \LogicException('TokenSigner needs lcobucci/jwt: composer require lcobucci/jwt');
        }
        self::require(str_starts_with($keyId, 'key_'), 'keyId must be the id of an API key, key_…');
        self::require(!str_starts_with($secret, 'sk_'), 'secret must be the secret that signs, not the sk_… value');
        self::require(strlen($secret) >= 32, 'secret must have 32 bytes at least (RFC 7518, 3.2)');
        self::require(str_starts_with($tenantId, 'tenant_'), 'tenantId must be the id of a tenant, tenant_…');
        $this->keyId = $keyId;
        $this->tenantId = $tenantId;
        $this->jwt = Configuration::forSymmetricSigner(new Sha256(), InMemory::plainText($secret));
        $this->now = $now ?? static fn (): float => microtime(true);
    }

    /**
     * Signs a token with which a client acts as this user. Issue it only to the signed-in user.
     *
     * @param string $identity user id in your system, such as `user|42`: 1 to 256 characters in NFC, without
     *     control characters. Pass integer ids as strings
     * @param int $lifetimeSeconds 1 to 3600
     * @throws \InvalidArgumentException names the invalid argument
     */
    public function sign(string $identity, int $lifetimeSeconds = self::LIFETIME_S): string
    {
        self::require(
            preg_match('/\A\P{Cc}{1,256}\z/u', $identity) === 1,
            'identity must be 1 to 256 characters of UTF-8, none of them a control character',
        );
        self::require(\Normalizer::isNormalized($identity), 'identity must be in normalization form C');
        $isLife = $lifetimeSeconds >= 1 && $lifetimeSeconds <= self::LIFETIME_S;
        self::require($isLife, 'lifetimeSeconds must be 1 to 3600');
        $end = (int) floor(($this->now)()) + $lifetimeSeconds;
        return $this->jwt->builder()
            ->withHeader('cty', self::CONTENT_TYPE)
            ->issuedBy($this->keyId)
            ->relatedTo($this->tenantId)
            ->expiresAt(new \DateTimeImmutable("@$end"))
            ->withClaim('grants', ['identity' => $identity])
            ->getToken($this->jwt->signer(), $this->jwt->signingKey())
            ->toString();
    }

    /** @return array<string, mixed> properties without the secret */
    public function __debugInfo(): array
    {
        return ['keyId' => $this->keyId, 'tenantId' => $this->tenantId];
    }

    /** @phpstan-assert true $isRight */
    private static function require(bool $isRight, string $fault): void
    {
        if (!$isRight) {
            throw new \InvalidArgumentException($fault);
        }
    }
}
