import { z } from 'zod';

/** The scopes of a server key (contract section 2). */
export const SCOPES = [
  'conversations:read',
  'conversations:write',
  'answers:read',
  'answers:write',
  'questions:read',
  'questions:write',
  'identities:read',
  'identities:write',
  'identities:erase',
  'webhooks:manage',
  'exports:create',
  'events:read',
] as const;

export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

/** The default scopes of a server key: all but erasing people. */
export const DEFAULT_SCOPES: Scope[] = SCOPES.filter(scope => scope !== 'identities:erase');
