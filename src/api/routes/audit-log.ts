import { z } from 'zod';
import { rule } from '../../domain/field-errors.ts';
import { parseTypeId, toTypeId } from '../../domain/ids.ts';
import { filterOf, pageOf, pageQuery } from '../../domain/pages.ts';
import { ACTIONS, AuditEntry } from '../../domain/team/audit-log.ts';
import { Timestamp } from '../../domain/text.ts';
import { type AuditRow, listAuditEntries } from '../../storage/team/audit-log.ts';
import { operation } from '../operation.ts';

const presentEntry = (row: AuditRow) => ({
  id: toTypeId('audit', row.id),
  at: row.at,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  action: row.action,
  target: { id: row.target_id, name: row.target_name },
  fields: row.fields,
  ip: row.ip,
  request_id: row.request_id,
});

/** The actor of an entry: a member or an API key. */
const Actor = z
  .string()
  .max(40)
  .refine(
    id => parseTypeId('member', id) !== undefined || parseTypeId('key', id) !== undefined,
    rule('invalid-format', 'Must be the id of a member or an API key, starting with member_ or key_.'),
  );

export const readAuditLog = operation({
  id: 'readAuditLog',
  method: 'get',
  path: '/v1/audit-log',
  tag: 'Audit log',
  credentials: ['session'],
  summary: 'List audit log entries, newest first',
  description: 'The log is append-only: neither the API nor its database role can change or delete an entry.',
  right: 'audit-log:read',
  query: z.object({
    ...pageQuery,
    action: filterOf(ACTIONS, 'Action of the entries'),
    actor: Actor.optional().meta({ description: '`member_…` or `key_…`' }),
    since: Timestamp.optional().meta({ description: 'Entries at or after this time' }),
  }),
  status: 200,
  response: pageOf(AuditEntry),
  async handle({ caller, query, after, page }, { storage }) {
    const { limit, action, actor, since } = query;
    const tenant = storage.forTenant(caller.tenantId);
    return page(await listAuditEntries(tenant, { action, actor, since }, limit, after), presentEntry);
  },
});

/** Every operation on the audit log. */
export const auditLogRoutes = [readAuditLog];
