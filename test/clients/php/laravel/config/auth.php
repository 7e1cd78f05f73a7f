<?php

declare(strict_types=1);

return [
    'defaults' => ['guard' => 'sanctum'],
    'guards' => ['sanctum' => ['driver' => 'sessions']],
    'providers' => [],
];
