import type { MemberRole } from './api/names.ts';

/** What the pages ask before they show a way to do something. The API is asked again by doing it. */
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

/** The rights of a role (contract section 6). */
export const rightsOf = (role: MemberRole): ReadonlySet<Right> => RIGHTS[role];
