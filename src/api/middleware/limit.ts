import type { Context } from 'koa';
import type { RateLimit, RateVerdict } from '../../coordination/rate-limits.ts';
import { Problem } from '../../domain/problem.ts';
import type { Config } from '../../platform/config.ts';
import type { Caller } from '../authentication/caller.ts';
import type { ApiDeps } from '../deps.ts';

const perMinute = (scope: string, limit: number): RateLimit => ({ scope, limit, windowSeconds: 60 });

/** The limits under which a caller's requests count, the most telling first. */
function limitsOf(caller: Caller, config: Config): { limit: RateLimit; key: string[] }[] {
  switch (caller.kind) {
    case 'api-key':
      return [{ limit: perMinute('api-key', config.RATE_API_KEY), key: [caller.keyId] }];
    case 'access-token':
      return [{ limit: perMinute('identity', config.RATE_ACCESS_TOKEN), key: [caller.tenantId, caller.identity] }];
    case 'public-access-token':
      return [
        { limit: perMinute('public-identity', config.RATE_PUBLIC_TOKEN), key: [caller.tenantId, caller.identity] },
        {
          limit: { scope: 'public-key', limit: config.PUBLIC_KEY_DAILY_CAP, windowSeconds: 86_400 },
          key: [caller.keyId],
        },
      ];
  }
}

/** Says in the response how much of a limit is left (draft-ietf-httpapi-ratelimit-headers). */
function tell(ctx: Context, verdict: RateVerdict): void {
  ctx.set('RateLimit-Policy', `"${verdict.scope}";q=${verdict.limit};w=${verdict.windowSeconds}`);
  ctx.set('RateLimit', `"${verdict.scope}";r=${verdict.remaining};t=${verdict.resetSeconds}`);
}

/** Throws 429 for a verdict that forbids, unless limits only count (`RATE_LIMITS=off`). */
export function enforce(
  ctx: Context,
  verdict: RateVerdict,
  { config, metrics }: Pick<ApiDeps, 'config' | 'metrics'>,
): void {
  if (verdict.allowed) return;
  metrics.rateLimited.inc({ scope: verdict.scope });
  if (config.RATE_LIMITS === 'off') return;
  tell(ctx, verdict);
  throw new Problem('rate-limit-exceeded', `More than ${verdict.limit} requests in ${verdict.windowSeconds} s.`, {
    retryAfterSeconds: verdict.resetSeconds,
  });
}

/** Counts a request of a known caller and refuses it beyond a limit. */
export function limitCaller(ctx: Context, caller: Caller, deps: ApiDeps): void {
  const verdicts = limitsOf(caller, deps.config).map(({ limit, key }) => deps.limits.take(limit, ...key));
  const [first] = verdicts;
  if (first) tell(ctx, first);
  for (const verdict of verdicts) enforce(ctx, verdict, deps);
}

/** The two limits of issuing public tokens. They fail closed: without their store none are issued. */
export async function limitTokenIssue(
  ctx: Context,
  deps: ApiDeps,
  scope: 'ip' | 'token-user',
  key: string[],
): Promise<void> {
  const { RATE_TOKEN_ISSUE_IP, RATE_TOKEN_ISSUE_USER } = deps.config;
  const limit = perMinute(scope, scope === 'ip' ? RATE_TOKEN_ISSUE_IP : RATE_TOKEN_ISSUE_USER);
  try {
    const verdict = await deps.limits.takeStrictly(limit, ...key);
    tell(ctx, verdict);
    enforce(ctx, verdict, deps);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('database-unavailable', 'No tokens are issued while their limits can not be counted.', {
      retryAfterSeconds: 5,
      cause,
    });
  }
}
