import type { Context } from 'koa';
import type { RateLimit, RateVerdict } from '../../coordination/rate-limits.ts';
import { Problem } from '../../domain/problem.ts';
import { networkOf } from '../../platform/addresses.ts';
import type { Config } from '../../platform/config.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { attemptsOf } from '../credentials/login.ts';
import type { ApiDeps } from '../deps.ts';
import { clientIp } from '../http/client-ip.ts';
import type { IssueLimit } from '../operation.ts';

/** A limit with its `RateLimit-Policy` header. */
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

/** One address's share of a public key's daily cap, applied once half of the cap is used: a tenth, and at least 3. */
const shareOf = (cap: number): number => Math.max(3, Math.ceil(cap / 10));

/** The limits of an installation, created once. */
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
  'login-account': announce('login-account', config.RATE_LOGIN_ACCOUNT, 900),
  'login-ip': announce('login-ip', config.RATE_LOGIN_IP, 900),
  'setup-ip': perMinute('setup-ip', config.RATE_LINK_IP),
  'reset-ip': perMinute('reset-ip', config.RATE_LINK_IP),
  'invitation-ip': perMinute('invitation-ip', config.RATE_LINK_IP),
  'oidc-login-ip': perMinute('oidc-login-ip', config.RATE_OIDC_IP),
  'oidc-callback-ip': perMinute('oidc-callback-ip', config.RATE_OIDC_IP),
  'token-ip': perMinute('token-ip', config.RATE_TOKEN_ISSUE_IP),
  'token-user': perMinute('token-user', config.RATE_TOKEN_ISSUE_USER),
});
const known = new WeakMap<Config, ReturnType<typeof limitsFrom>>();

/** Returns every rate limit of an installation by its name. */
export function limitsOf(config: Config): ReturnType<typeof limitsFrom> {
  const limits = known.get(config) ?? limitsFrom(config);
  known.set(config, limits);
  return limits;
}

/** Sets the headers with the remaining units of a limit (draft-ietf-httpapi-ratelimit-headers). */
function setRateLimitHeaders(ctx: Context, limit: AnnouncedLimit, { remaining, resetSeconds }: RateVerdict): void {
  ctx.set('RateLimit-Policy', limit.policy);
  ctx.set('RateLimit', `"${limit.scope}";r=${remaining};t=${resetSeconds}`);
}

/** Throws 429 for a refused verdict, unless limits only count (`RATE_LIMITS=off`). `units` is the cost of the request. */
function enforce(
  ctx: Context,
  limit: AnnouncedLimit,
  verdict: RateVerdict,
  { config, metrics }: Pick<ApiDeps, 'config' | 'metrics'>,
  units = 1,
): void {
  if (verdict.allowed) return;
  const { remaining, resetSeconds } = verdict;
  metrics.rateLimited.inc({ scope: limit.scope });
  if (config.RATE_LIMITS === 'off') return;
  setRateLimitHeaders(ctx, limit, verdict);
  const detail =
    units > 1
      ? `${remaining} of ${limit.limit} requests per ${limit.windowSeconds} s remain, but this request counts as ${units}.`
      : `More than ${limit.limit} requests in ${limit.windowSeconds} s.`;
  throw new Problem('rate-limit-exceeded', detail, { retryAfterSeconds: resetSeconds });
}

/** Counts a request of a known caller under all of its limits. Throws 429 beyond one. */
export const limitCaller = (ctx: Context, caller: Caller, deps: ApiDeps): Promise<void> =>
  charge(ctx, limitOfCaller(ctx, caller, deps.config), { cost: 1, counted: 0 }, deps);

/**
 * Counts the items of a user's batch, of which `limitCaller` has counted one. Throws 429 for a batch that does not fit.
 *
 * A full limit accepts any batch. API keys are counted by requests.
 */
export async function limitItems(ctx: Context, caller: Caller, items: number, deps: ApiDeps): Promise<void> {
  if (items <= 1 || !('identity' in caller)) return;
  await charge(ctx, limitOfCaller(ctx, caller, deps.config), { cost: items - 1, counted: 1 }, deps);
}

interface Units {
  cost: number;
  /** Units of the same request that were counted before. */
  counted: number;
}

/** A limit, its key, and the limit that is checked next if this one allows the request. */
interface CallerLimit {
  limit: AnnouncedLimit;
  key: string;
  next?(verdict: RateVerdict): CallerLimit | undefined;
}

/** Counts units under each limit in turn. A request refused by one limit costs no units under the next. */
async function charge(ctx: Context, first: CallerLimit, { cost, counted }: Units, deps: ApiDeps): Promise<void> {
  let current: CallerLimit | undefined = first;
  while (current) {
    const taken = deps.limits.consume(current.limit, current.key, cost, counted);
    const verdict = 'settled' in taken ? await taken.settled : taken;
    if (current === first) setRateLimitHeaders(ctx, current.limit, verdict);
    enforce(ctx, current.limit, verdict, deps, cost + counted);
    current = current.next?.(verdict);
  }
}

/** Returns the first limit of a caller, which the headers announce. Others may follow it. */
function limitOfCaller(ctx: Context, caller: Caller, config: Config): CallerLimit {
  const { apiKey, identity, session } = limitsOf(config);
  if (caller.kind === 'api-key') return { limit: apiKey, key: caller.keyId };
  if ('sessionId' in caller) return { limit: session, key: caller.sessionId };
  return caller.verified ? { limit: identity, key: caller.user } : limitOfClaimed(ctx, caller, config);
}

/**
 * Returns the limits of a public access token: of its user, of its key, and in the second half of the key's daily cap
 * of its address.
 *
 * Before that, addresses are not counted, so that users behind one address are not limited while there is enough for
 * all.
 */
function limitOfClaimed(ctx: Context, { user, keyId }: UserCaller, config: Config): CallerLimit {
  const { publicIdentity, publicKey, publicKeyAddress } = limitsOf(config);
  const ofAddress = (): CallerLimit => ({
    limit: publicKeyAddress,
    key: `${keyId} ${networkOf(clientIp(ctx, config.TRUSTED_PROXY_HOPS))}`,
  });
  const ofKey: CallerLimit = {
    limit: publicKey,
    key: keyId,
    next: ({ remaining }) => (remaining < publicKey.limit / 2 ? ofAddress() : undefined),
  };
  return { limit: publicIdentity, key: user, next: () => ofKey };
}

/** Whether a limit is counted by network address; in IPv6 by /64, which usually belongs to one party. */
const isByAddress = (scope: IssueLimit): boolean => scope.endsWith('-ip');

/**
 * Counts an attempt under a limit for issuing credentials. Returns the function that subtracts it again. Fails closed: refused
 * when the store is unreachable.
 */
export function limitIssue(
  ctx: Context,
  deps: ApiDeps,
  scope: IssueLimit,
  key: string | null,
): Promise<() => Promise<void>> {
  const counted = isByAddress(scope) ? networkOf(key) : (key ?? '');
  return whileCountable(async () => {
    const limit = limitsOf(deps.config)[scope];
    const verdict = await deps.limits.consumeStrictly(limit, counted);
    setRateLimitHeaders(ctx, limit, verdict);
    enforce(ctx, limit, verdict, deps);
    return () => whileCountable(verdict.undo);
  });
}

/** Removes the failed logins to an account that were counted for it, and for it from one address. */
export const clearFailedLogins = (email: string, ip: string | null, { limits, config }: ApiDeps): Promise<unknown> =>
  whileCountable(() =>
    Promise.all([
      limits.clear(limitsOf(config).login, attemptsOf(email, networkOf(ip))),
      limits.clear(limitsOf(config)['login-account'], email),
    ]),
  );

/** Throws 503 if attempts cannot be counted. */
async function whileCountable<T>(count: () => Promise<T>): Promise<T> {
  try {
    return await count();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('database-unavailable', 'Attempts cannot be counted right now, so no credentials are issued.', {
      retryAfterSeconds: 5,
      cause,
    });
  }
}
