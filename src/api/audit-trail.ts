import { type Action, MAX_FIELDS } from '../domain/audit-log.ts';
import { toTypeId } from '../domain/ids.ts';
import { findAccount } from '../storage/accounts.ts';
import { type Act, insertAuditEntry } from '../storage/audit-log.ts';
import type { PersonCaller, TeamCaller } from './authentication/caller.ts';
import type { ApiDeps } from './deps.ts';
import { isReply } from './operation.ts';

type TrailDeps = Pick<ApiDeps, 'storage' | 'log' | 'now'>;

/** From where, and by which request, something was done. */
interface Circumstances {
  clientIp(): string;
  requestId: string;
}

/** What was done, without who did it. */
type Deed = Pick<Act, 'action' | 'target_id' | 'target_name' | 'fields' | 'ip' | 'request_id'>;

/** A line of one tenant's log. */
interface Line {
  tenantId: string;
  act: Act;
}

const deedOf = (
  action: Action,
  { clientIp, requestId }: Circumstances,
  about: Partial<Pick<Act, 'target_id' | 'target_name' | 'fields'>> = {},
): Deed => ({
  action,
  target_id: null,
  target_name: null,
  fields: [],
  ...about,
  ip: clientIp(),
  request_id: requestId,
});

/** What an operation was about, from its path and what it replies; of the body the names of the fields alone. */
function aboutOf(pathId: string | undefined, sent: unknown, result: unknown) {
  const shown = isReply(result) ? result.body : result;
  const { id, name, email } = (typeof shown === 'object' && shown !== null ? shown : {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const fields = typeof sent === 'object' && sent !== null ? Object.keys(sent).slice(0, MAX_FIELDS) : [];
  return {
    target_id: text(id) ?? pathId ?? null,
    target_name: text(name) ?? text(email) ?? null,
    fields,
  };
}

/**
 * Leaves the line of what a caller has just done, before the reply says so.
 *
 * A key or a member leaves it in the tenant's log; a person who changed the account, in that of each tenant.
 */
export function leaveLine(
  action: Action,
  caller: TeamCaller | PersonCaller,
  request: Circumstances & { sent: unknown; pathId: string | undefined },
  result: unknown,
  deps: TrailDeps,
): Promise<void> {
  const deed = deedOf(action, request, aboutOf(request.pathId, request.sent, result));
  if (caller.kind === 'api-key') {
    const actor = { actor_type: 'api-key', actor_id: toTypeId('key', caller.keyId), actor_name: caller.name } as const;
    return write([{ tenantId: caller.tenantId, act: { ...actor, ...deed } }], deps);
  }
  if (caller.kind === 'session')
    return write([{ tenantId: caller.tenantId, act: { ...memberActor(caller.memberId, caller), ...deed } }], deps);
  return writeOfPerson(caller.accountId, deed, deps);
}

const memberActor = (memberId: string, { name, email }: { name: string; email: string }) =>
  ({ actor_type: 'member', actor_id: toTypeId('member', memberId), actor_name: name || email }) as const;

/** Leaves the line of what a person did without being logged in before: login, setup, joining, a password reset. */
export const leaveLineOf = (
  accountId: string,
  action: Action,
  request: Circumstances,
  deps: TrailDeps,
  tenantId?: string,
): Promise<void> => writeOfPerson(accountId, deedOf(action, request), deps, tenantId);

/** One line in the log of each tenant of a person, or of one of them alone. */
async function writeOfPerson(accountId: string, deed: Deed, deps: TrailDeps, tenantId?: string): Promise<void> {
  const { account, memberships } = await findAccount(deps.storage.forAccount(accountId));
  if (!account) return;
  const concerned = memberships.filter(({ tenant_id }) => tenantId === undefined || tenant_id === tenantId);
  const lines = concerned.map(({ tenant_id, member_id }) => ({
    tenantId: tenant_id,
    act: { ...memberActor(member_id, account), ...deed },
  }));
  await write(lines, deps);
}

/** What can't be written goes to the process's log before the request fails: no act is without a trace. */
async function write(lines: Line[], { storage, log, now }: TrailDeps): Promise<void> {
  try {
    for (const { tenantId, act } of lines) await insertAuditEntry(storage.forTenant(tenantId), act, now());
  } catch (error) {
    log.error({ audit: lines }, 'what was done could not be written to the audit log');
    throw error;
  }
}
