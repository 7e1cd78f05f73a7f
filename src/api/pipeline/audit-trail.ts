import { toTypeId } from '../../domain/ids.ts';
import { type Action, hostFromUrl, MAX_FIELDS } from '../../domain/team/audit-log.ts';
import { findAccount } from '../../storage/team/accounts.ts';
import { type AuditEvent, insertAuditEntry } from '../../storage/team/audit-log.ts';
import type { PersonCaller, TeamCaller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { isReply } from '../operation.ts';

/** The storage of the operation's transaction: the entry exists exactly when the operation was committed. */
type AuditDeps = Pick<ApiDeps, 'storage' | 'now'>;

/** The client address and id of the request. */
interface RequestOrigin {
  clientIp(): string | null;
  requestId: string;
}

/** An audit event without its actor. */
type EventDetails = Pick<AuditEvent, 'action' | 'target_id' | 'target_name' | 'fields' | 'ip' | 'request_id'>;

const detailsOf = (
  action: Action,
  { clientIp, requestId }: RequestOrigin,
  about: Partial<Pick<AuditEvent, 'target_id' | 'target_name' | 'fields'>> = {},
): EventDetails => ({
  action,
  target_id: null,
  target_name: null,
  fields: [],
  ...about,
  ip: clientIp(),
  request_id: requestId,
});

/** The target of an operation, from its path and its reply. Of the body, only the names of the fields. */
function targetOf(pathId: string | undefined, sent: unknown, result: unknown) {
  const shown = isReply(result) ? result.body : result;
  const { id, name, email, url } = (typeof shown === 'object' && shown !== null ? shown : {}) as Record<
    string,
    unknown
  >;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const fields = typeof sent === 'object' && sent !== null ? Object.keys(sent).slice(0, MAX_FIELDS) : [];
  return {
    target_id: (isReply(result) ? result.target : undefined) ?? text(id) ?? pathId ?? null,
    target_name: text(name) ?? text(email) ?? hostFromUrl(text(url)),
    fields,
  };
}

/**
 * Records an audit entry for an operation.
 *
 * Operations of keys and members are recorded in the tenant's log. A change of a person's account is recorded in the
 * log of each of their tenants.
 */
export function recordAuditEntry(
  action: Action,
  caller: TeamCaller | PersonCaller,
  request: RequestOrigin & { sent: unknown; pathId: string | undefined },
  result: unknown,
  deps: AuditDeps,
): Promise<void> {
  const details = detailsOf(action, request, targetOf(request.pathId, request.sent, result));
  if (caller.kind === 'api-key') {
    const actor = { actor_type: 'api_key', actor_id: toTypeId('key', caller.keyId), actor_name: caller.name } as const;
    return write(caller.tenantId, { ...actor, ...details }, deps);
  }
  if (caller.kind === 'session')
    return write(caller.tenantId, { ...memberActor(caller.memberId, caller), ...details }, deps);
  return writeForPerson(caller, details, deps);
}

const memberActor = (memberId: string, { name, email }: { name: string; email: string }) =>
  ({ actor_type: 'member', actor_id: toTypeId('member', memberId), actor_name: name || email }) as const;

/** The person who acted, and the tenant; all of their tenants if it is absent. */
interface Actor {
  accountId: string;
  tenantId?: string | undefined;
}

/**
 * Runs an operation of an unauthenticated caller (login, setup, joining, password reset) and records its audit entry,
 * in one transaction. `act` returns the person and the result.
 */
export const withAuditEntry = <T>(
  action: Action,
  request: RequestOrigin,
  deps: ApiDeps,
  act: (transactionDeps: ApiDeps) => Promise<{ actor: Actor; result: T }>,
): Promise<T> =>
  deps.storage.inTransaction(async storage => {
    const transactionDeps = { ...deps, storage };
    const { actor, result } = await act(transactionDeps);
    await writeForPerson(actor, detailsOf(action, request), transactionDeps);
    return result;
  });

/** Records one entry in the log of each of a person's tenants, or of a single one. */
async function writeForPerson({ accountId, tenantId }: Actor, details: EventDetails, deps: AuditDeps): Promise<void> {
  const { account, memberships } = await findAccount(deps.storage.forAccount(accountId));
  if (!account) return;
  for (const { tenant_id, member_id } of memberships)
    if (tenantId === undefined || tenant_id === tenantId)
      await write(tenant_id, { ...memberActor(member_id, account), ...details }, deps);
}

const write = (tenantId: string, event: AuditEvent, { storage, now }: AuditDeps): Promise<void> =>
  insertAuditEntry(storage.forTenant(tenantId), event, now());
