<?php

/** app/Http/Controllers/AccessTokenController.php: issues Parley access tokens to the signed-in user. */

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Parley\TokenSigner;

final class AccessTokenController
{
    /** The guard of your app's users. Not its middleware, which redirects guests to a page. */
    private const GUARD = 'sanctum';

    public function __invoke(Request $request, TokenSigner $signer): JsonResponse
    {
        $user = $request->user(self::GUARD);
        if ($user === null) {
            return new JsonResponse(['error' => 'not logged in'], 401);
        }
        $token = $signer->sign('user|' . $user->getAuthIdentifier());
        return new JsonResponse(['access_token' => $token], 200, ['Cache-Control' => 'no-store']);
    }
}
