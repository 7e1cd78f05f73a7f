<?php

/** Debian's libraries, which Composer would have installed. */

declare(strict_types=1);

require_once 'GuzzleHttp/autoload.php';
require_once 'Lcobucci/JWT/autoload.php';
require_once 'Nyholm/Psr7/autoload.php';
require_once 'Symfony/Component/HttpClient/autoload.php';
