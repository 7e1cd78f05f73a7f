import type { MemberRole } from './api/names.ts';

/** Permissions that decide which actions the pages offer. The API enforces them. */
export type Right =
  | 'questions:write'
  | 'answers:write'
  | 'conversations:write'
  | 'conversations:delete'
  | 'tokens:inspect'
  | 'tenant:write'
  | 'api-keys:manage'
  | 'members:manage'
  | 'audit-log:read';

const AGENT: Right[] = ['conversations:write', 'tokens:inspect'];
const ADMIN: Right[] = [
  ...AGENT,
  'questions:write',
  'answers:write',
  'conversations:delete',
  'tenant:write',
  'api-keys:manage',
  'members:manage',
  'audit-log:read',
];

const RIGHTS: Record<MemberRole, ReadonlySet<Right>> = {
  owner: new Set(ADMIN),
  admin: new Set(ADMIN),
  agent: new Set(AGENT),
  analyst: new Set(),
};

/** Returns the permissions of a role (contract section 6). */
export const rightsOf = (role: MemberRole): ReadonlySet<Right> => RIGHTS[role];
