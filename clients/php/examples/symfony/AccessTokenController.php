<?php

/**
 * src/Controller/AccessTokenController.php: issues Parley access tokens to the signed-in user.
 *
 * Needs a firewall for its path, which responds with 401 to unauthenticated requests.
 */

declare(strict_types=1);

namespace App\Controller;

use Parley\TokenSigner;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpKernel\Attribute\AsController;
use Symfony\Component\Routing\Attribute\Route;
use Symfony\Component\Security\Core\User\UserInterface;
use Symfony\Component\Security\Http\Attribute\CurrentUser;

#[AsController]
final class AccessTokenController
{
    public function __construct(private readonly TokenSigner $signer)
    {
    }

    #[Route('/v1/svc/auth/token', methods: ['POST'])]
    public function __invoke(#[CurrentUser] UserInterface $user): JsonResponse
    {
        $token = $this->signer->sign('user|' . $user->getUserIdentifier());
        return new JsonResponse(['access_token' => $token], 200, ['Cache-Control' => 'no-store']);
    }
}
