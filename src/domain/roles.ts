import { z } from 'zod';
import type { Scope } from './scopes.ts';

/** What a member of a team can be, the most powerful first. */
export const ROLES = ['owner', 'admin', 'agent', 'analyst'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

const EVERYBODY = ROLES;
const TEAM = ['owner', 'admin', 'agent'] as const;
const ADMINS = ['owner', 'admin'] as const;

/** Who holds a right: members by their role, API keys by a scope (`null`: every server key). */
interface Holders {
  roles: readonly Role[];
  scope: Scope | null;
}

/**
 * Every right, and who holds it (contract section 6): an operation names one, and nothing else decides.
 *
 * Agents hold conversations and read what they are about; analysts read. What only owners may do, making and unmaking
 * owners, depends on the member in question and stands in `domain/members.ts`.
 */
export const RIGHTS = {
  'conversations:read': { roles: EVERYBODY, scope: 'conversations:read' },
  'conversations:write': { roles: TEAM, scope: 'conversations:write' },
  'conversations:delete': { roles: ADMINS, scope: 'conversations:write' },
  'answers:read': { roles: EVERYBODY, scope: 'answers:read' },
  'answers:write': { roles: ADMINS, scope: 'answers:write' },
  'questions:read': { roles: EVERYBODY, scope: 'questions:read' },
  'questions:write': { roles: ADMINS, scope: 'questions:write' },
  'identities:read': { roles: EVERYBODY, scope: 'identities:read' },
  'identities:write': { roles: TEAM, scope: 'identities:write' },
  'tokens:inspect': { roles: TEAM, scope: null },
  'tenant:read': { roles: EVERYBODY, scope: null },
  'tenant:write': { roles: ADMINS, scope: null },
  'members:read': { roles: EVERYBODY, scope: null },
  'members:manage': { roles: ADMINS, scope: null },
  'api-keys:manage': { roles: ADMINS, scope: null },
  'audit-log:read': { roles: ADMINS, scope: null },
} as const satisfies Record<string, Holders>;

/** What an operation asks of whoever calls it; users are bound by their identity instead. */
export type Right = keyof typeof RIGHTS;

/** Whether members of a role hold a right. */
export const roleHolds = (role: Role, right: Right): boolean => (RIGHTS[right].roles as readonly Role[]).includes(role);
