<?php

declare(strict_types=1);

namespace App\Providers;

use Illuminate\Auth\GenericUser;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Auth;
use Illuminate\Support\ServiceProvider;

/** Knows users by `SESSIONS` (`token=user,token=user`). */
final class SessionsServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        Auth::viaRequest('sessions', static function (Request $request): ?GenericUser {
            parse_str(strtr((string) getenv('SESSIONS'), ',', '&'), $users);
            $user = $users[(string) $request->bearerToken()] ?? null;
            return $user === null ? null : new GenericUser(['id' => $user]);
        });
    }
}
