import type { Context } from 'koa';
import type { RateLimit, RateVerdict } from '../../coordination/rate-limits.ts';
import { networkOf } from '../../domain/addresses.ts';
import { Problem } from '../../domain/problem.ts';
import type { Config } from '../../platform/config.ts';
import type { Caller, UserCaller } from '../authentication/caller.ts';
import { clientIp } from '../client-ip.ts';
import type { ApiDeps } from '../deps.ts';

/** A limit with the header that announces it. */
interface AnnouncedLimit extends RateLimit {
  readonly policy: string;
}

const announce = (scope: string, limit: number, windowSeconds: number): AnnouncedLimit => ({
  scope,
  limit,
  windowSeconds,
  policy: `"${scope}";q=${limit};w=${windowSeconds}`,
});
const perMinute = (scope: string, limit: number) => announce(scope, limit, 60);

/** What one address may use of a public key's daily cap once half of the cap is used: a tenth of it. */
const shareOf = (cap: number): number => Math.max(2, Math.ceil(cap / 10));

/** The limits of an installation, made once. */
const limitsFrom = (config: Config) => ({
  apiKey: perMinute('api-key', config.RATE_API_KEY),
  identity: perMinute('identity', config.RATE_ACCESS_TOKEN),
  publicIdentity: perMinute('public-identity', config.RATE_PUBLIC_TOKEN),
  publicKey: announce('public-key', config.PUBLIC_KEY_DAILY_CAP, 86_400),
  publicKeyAddress: announce('public-key-address', shareOf(config.PUBLIC_KEY_DAILY_CAP), 86_400),
  session: perMinute('session', config.RATE_SESSION),
  reset: announce('reset', 5, 3600),
  invitation: announce('invitation', 5, 3600),
  'invitation-tenant': announce('invitation-tenant', 100, 3600),
  login: announce('login', config.RATE_LOGIN, 900),
  'login-ip': announce('login-ip', config.RATE_LOGIN_IP, 900),
  ip: perMinute('ip', config.RATE_TOKEN_ISSUE_IP),
  'token-user': perMinute('token-user', config.RATE_TOKEN_ISSUE_USER),
});
const known = new WeakMap<Config, ReturnType<typeof limitsFrom>>();

function limitsOf(config: Config): ReturnType<typeof limitsFrom> {
  const limits = known.get(config) ?? limitsFrom(config);
  known.set(config, limits);
  return limits;
}

type Verdict = RateVerdict<AnnouncedLimit>;

/** Says in the response how much of a limit is left (draft-ietf-httpapi-ratelimit-headers). */
function tell(ctx: Context, { limit, remaining, resetSeconds }: Verdict): void {
  ctx.set('RateLimit-Policy', limit.policy);
  ctx.set('RateLimit', `"${limit.scope}";r=${remaining};t=${resetSeconds}`);
}

/** Throws 429 for a verdict that forbids, unless limits only count (`RATE_LIMITS=off`). */
export function enforce(
  ctx: Context,
  verdict: Verdict,
  { config, metrics }: Pick<ApiDeps, 'config' | 'metrics'>,
): void {
  if (verdict.allowed) return;
  const { limit, resetSeconds } = verdict;
  metrics.rateLimited.inc({ scope: limit.scope });
  if (config.RATE_LIMITS === 'off') return;
  tell(ctx, verdict);
  throw new Problem('rate-limit-exceeded', `More than ${limit.limit} requests in ${limit.windowSeconds} s.`, {
    retryAfterSeconds: resetSeconds,
  });
}

/** Counts a request of a known caller under all of its limits, and refuses it beyond one. */
export function limitCaller(ctx: Context, caller: Caller, deps: ApiDeps): void {
  const verdicts = countCaller(caller, deps);
  tell(ctx, verdicts[0]);
  for (const verdict of verdicts) enforce(ctx, verdict, deps);
  const ofKey = verdicts[1];
  if (ofKey && ofKey.remaining < ofKey.limit.limit / 2) limitAddress(ctx, caller as UserCaller, deps);
}

/**
 * Leaves the second half of a public key's daily cap to more than one address.
 *
 * Before that no address is counted, so that users behind one address are not limited while there is enough for all.
 */
function limitAddress(ctx: Context, { keyId }: UserCaller, deps: ApiDeps): void {
  const address = networkOf(clientIp(ctx, deps.config.TRUSTED_PROXY_HOPS));
  enforce(ctx, deps.limits.take(limitsOf(deps.config).publicKeyAddress, `${keyId} ${address}`), deps);
}

/** What a caller's limits say, the most telling first. */
function countCaller(caller: Caller, { limits, config }: ApiDeps): [Verdict, ...Verdict[]] {
  const { apiKey, identity, publicIdentity, publicKey, session } = limitsOf(config);
  if (caller.kind === 'api-key') return [limits.take(apiKey, caller.keyId)];
  if ('sessionId' in caller) return [limits.take(session, caller.sessionId)];
  if (caller.verified) return [limits.take(identity, caller.user)];
  return [limits.take(publicIdentity, caller.user), limits.take(publicKey, caller.keyId)];
}

/**
 * What gives out credentials is counted by these: tokens by address and by user, logins and reset links by account,
 * invitations by tenant and by the address that they are mailed to.
 */
export type IssueLimit = 'ip' | 'token-user' | 'login' | 'login-ip' | 'reset' | 'invitation' | 'invitation-tenant';

/** What is counted by network address: of IPv6 by the /64, which one party has for itself. */
const BY_ADDRESS: ReadonlySet<IssueLimit> = new Set(['ip', 'login-ip']);

/** The limits of giving out credentials. They fail closed: without their store nothing is given out. */
export async function limitIssue(ctx: Context, deps: ApiDeps, scope: IssueLimit, key: string): Promise<void> {
  const counted = BY_ADDRESS.has(scope) ? networkOf(key) : key;
  try {
    const verdict = await deps.limits.takeStrictly(limitsOf(deps.config)[scope], counted);
    tell(ctx, verdict);
    enforce(ctx, verdict, deps);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('database-unavailable', 'No credentials are given out while attempts can not be counted.', {
      retryAfterSeconds: 5,
      cause,
    });
  }
}
