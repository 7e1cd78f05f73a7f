<?php

/** Prints an access token for the identity that is the first argument. */

declare(strict_types=1);

require 'Lcobucci/JWT/autoload.php'; // Debian's package; with Composer: vendor/autoload.php

use Lcobucci\JWT\JwtFacade;
use Lcobucci\JWT\Signer\Hmac\Sha256;
use Lcobucci\JWT\Signer\Key\InMemory;

$token = (new JwtFacade())->issue(
    new Sha256(),
    InMemory::plainText(getenv('SERVICE_API_KEY_SECRET')),
    static fn ($builder, DateTimeImmutable $now) => $builder
        ->withHeader('cty', 'svc-fpa;v=1')
        ->issuedBy(getenv('SERVICE_API_KEY_ID'))
        ->relatedTo(getenv('SERVICE_TENANT_ID'))
        ->expiresAt($now->modify('+1 hour'))
        ->withClaim('grants', ['identity' => $argv[1]]),
);

echo $token->toString(), PHP_EOL;
