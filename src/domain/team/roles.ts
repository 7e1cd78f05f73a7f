import { z } from 'zod';
import type { Scope } from './scopes.ts';

/** The roles of team members, the most powerful first. */
export const ROLES = ['owner', 'admin', 'agent', 'analyst'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

const EVERYBODY = ROLES;
const TEAM = ['owner', 'admin', 'agent'] as const;
const ADMINS = ['owner', 'admin'] as const;

/** The holders of a right: members by role, API keys by scope (`null`: every server key). */
interface Holders {
  roles: readonly Role[];
  scope: Scope | null;
}

/**
 * Every right and its holders (contract section 6). Each operation names one; there is no other source of permissions.
 *
 * Agents handle conversations and read related data; analysts only read. Only admins change users' attributes, because
 * targeting depends on them. Creating and removing owners depends on the member concerned, see `domain/team/members.ts`.
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
  'identities:write': { roles: ADMINS, scope: 'identities:write' },
  'events:read': { roles: EVERYBODY, scope: 'events:read' },
  'tokens:inspect': { roles: TEAM, scope: null },
  'tenant:read': { roles: EVERYBODY, scope: null },
  'tenant:write': { roles: ADMINS, scope: null },
  'members:read': { roles: EVERYBODY, scope: null },
  'members:manage': { roles: ADMINS, scope: null },
  'availability:write': { roles: TEAM, scope: null },
  'api-keys:manage': { roles: ADMINS, scope: null },
  'webhooks:manage': { roles: ADMINS, scope: 'webhooks:manage' },
  'audit-log:read': { roles: ADMINS, scope: null },
} as const satisfies Record<string, Holders>;

/** The right that an operation requires. Users are limited to their identity instead. */
export type Right = keyof typeof RIGHTS;

/** Returns the roles that hold a right. */
export const rolesWith = (right: Right): readonly Role[] => RIGHTS[right].roles;

/** Whether a role holds a right. */
export const roleHolds = (role: Role, right: Right): boolean => rolesWith(right).includes(role);
