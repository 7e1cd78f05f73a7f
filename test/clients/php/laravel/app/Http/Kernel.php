<?php

declare(strict_types=1);

namespace App\Http;

use Illuminate\Foundation\Http\Kernel as HttpKernel;
use Illuminate\Routing\Middleware\ThrottleRequests;

final class Kernel extends HttpKernel
{
    /** @var array<string, class-string> */
    protected $middlewareAliases = ['throttle' => ThrottleRequests::class];
}
