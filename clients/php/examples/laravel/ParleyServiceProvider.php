<?php

/** app/Providers/ParleyServiceProvider.php; register it in `bootstrap/providers.php` (before Laravel 11: `config/app.php`). */

declare(strict_types=1);

namespace App\Providers;

use App\Http\Controllers\AccessTokenController;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\ServiceProvider;
use Parley\TokenSigner;

final class ParleyServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->singleton(TokenSigner::class, static fn (): TokenSigner => new TokenSigner(
            config('parley.key_id'),
            config('parley.key_secret'),
            config('parley.tenant_id'),
        ));
    }

    public function boot(): void
    {
        Route::post('/v1/svc/auth/token', AccessTokenController::class)->middleware('throttle:30,1');
    }
}
