<?php

/** A Laravel application with only a login, for the example. */

declare(strict_types=1);

use App\Http\Kernel;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Exceptions\Handler;
use Illuminate\Http\Request;

require_once 'Illuminate/autoload.php';
require __DIR__ . '/../vendor/autoload.php';

$app = new Application(dirname(__DIR__));
$app->singleton(Illuminate\Contracts\Http\Kernel::class, Kernel::class);
$app->singleton(ExceptionHandler::class, Handler::class);
$kernel = $app->make(Illuminate\Contracts\Http\Kernel::class);
$request = Request::capture();
$response = $kernel->handle($request)->send();
$kernel->terminate($request, $response);
