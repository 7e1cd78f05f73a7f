<?php

/** config/parley.php: the three values of Parley's dashboard (settings, API Keys and General). */

declare(strict_types=1);

return [
    'key_id' => env('SERVICE_API_KEY_ID'),
    'key_secret' => env('SERVICE_API_KEY_SECRET'),
    'tenant_id' => env('SERVICE_TENANT_ID'),
];
