<?php

declare(strict_types=1);

namespace App;

use Symfony\Component\Security\Core\Exception\BadCredentialsException;
use Symfony\Component\Security\Core\User\InMemoryUser;
use Symfony\Component\Security\Http\AccessToken\AccessTokenHandlerInterface;
use Symfony\Component\Security\Http\Authenticator\Passport\Badge\UserBadge;

/** Knows users by `SESSIONS` (`token=user,token=user`). */
final class Sessions implements AccessTokenHandlerInterface
{
    public function getUserBadgeFrom(#[\SensitiveParameter] string $accessToken): UserBadge
    {
        parse_str(strtr((string) getenv('SESSIONS'), ',', '&'), $users);
        $user = $users[$accessToken] ?? throw new BadCredentialsException();
        return new UserBadge($user, static fn (string $name): InMemoryUser => new InMemoryUser($name, null, ['ROLE_USER']));
    }
}
