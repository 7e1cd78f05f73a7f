import type { MemberRole } from './api/names.ts';
import { HOLDERS } from './api/schema.ts';

/** An operation for each permission that the pages ask for. The API's document names its roles; the API enforces them. */
const OPERATIONS = {
  'questions:write': 'POST /v1/questions',
  'answers:write': 'PATCH /v1/answers/{id}',
  'conversations:write': 'POST /v1/conversations',
  'conversations:delete': 'DELETE /v1/conversations/{id}',
  'tokens:inspect': 'POST /v1/auth/inspect',
  'assignment-rules:read': 'GET /v1/assignment-rules',
  'tenant:write': 'PATCH /v1/tenant',
  'api-keys:manage': 'POST /v1/api-keys',
  'webhooks:manage': 'POST /v1/webhooks',
  'events:read': 'GET /v1/events',
  'members:manage': 'POST /v1/members',
  'audit-log:read': 'GET /v1/audit-log',
} as const satisfies Record<string, keyof typeof HOLDERS>;

/** Permissions that decide which actions the pages offer. */
export type Right = keyof typeof OPERATIONS;

const RIGHTS = Object.keys(OPERATIONS) as Right[];

/** Returns the permissions of a role. */
export const rightsOf = (role: MemberRole): ReadonlySet<Right> =>
  new Set(RIGHTS.filter(right => (HOLDERS[OPERATIONS[right]] as readonly string[]).includes(role)));
