import { type Action, MAX_FIELDS } from '../../domain/audit-log.ts';
import { toTypeId } from '../../domain/ids.ts';
import { findAccount } from '../../storage/accounts.ts';
import { type Act, insertAuditEntry } from '../../storage/audit-log.ts';
import type { PersonCaller, TeamCaller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { isReply } from '../operation.ts';

/** With the storage of the transaction in which the act was done: the line is there exactly when the act is. */
type TrailDeps = Pick<ApiDeps, 'storage' | 'now'>;

/** From where, and by which request, something was done. */
interface Circumstances {
  clientIp(): string;
  requestId: string;
}

/** What was done, without who did it. */
type Deed = Pick<Act, 'action' | 'target_id' | 'target_name' | 'fields' | 'ip' | 'request_id'>;

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
 * Leaves the line of what a caller has just done.
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
    return write(caller.tenantId, { ...actor, ...deed }, deps);
  }
  if (caller.kind === 'session')
    return write(caller.tenantId, { ...memberActor(caller.memberId, caller), ...deed }, deps);
  return writeOfPerson(caller, deed, deps);
}

const memberActor = (memberId: string, { name, email }: { name: string; email: string }) =>
  ({ actor_type: 'member', actor_id: toTypeId('member', memberId), actor_name: name || email }) as const;

/** Who turned out to have acted, and in which of their tenants; in all of them, unless it is said. */
interface Actor {
  accountId: string;
  tenantId?: string | undefined;
}

/**
 * Does what somebody does who is not known before (login, setup, joining, a password reset), and leaves the line of it,
 * in one transaction. `act` gives who it was, and what the reply is.
 */
export const doWithLine = <T>(
  action: Action,
  request: Circumstances,
  deps: ApiDeps,
  act: (within: ApiDeps) => Promise<{ actor: Actor; result: T }>,
): Promise<T> =>
  deps.storage.inOneTransaction(async storage => {
    const within = { ...deps, storage };
    const { actor, result } = await act(within);
    await writeOfPerson(actor, deedOf(action, request), within);
    return result;
  });

/** One line in the log of each tenant of a person, or of one of them alone. */
async function writeOfPerson({ accountId, tenantId }: Actor, deed: Deed, deps: TrailDeps): Promise<void> {
  const { account, memberships } = await findAccount(deps.storage.forAccount(accountId));
  if (!account) return;
  for (const { tenant_id, member_id } of memberships)
    if (tenantId === undefined || tenant_id === tenantId)
      await write(tenant_id, { ...memberActor(member_id, account), ...deed }, deps);
}

const write = (tenantId: string, act: Act, { storage, now }: TrailDeps): Promise<void> =>
  insertAuditEntry(storage.forTenant(tenantId), act, now());
