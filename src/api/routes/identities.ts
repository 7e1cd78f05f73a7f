import { z } from 'zod';
import { documentedAs } from '../../domain/documented.ts';
import {
  Attributes,
  IdentityPatch,
  IdentityProfile,
  IdentityStart,
  NewIdentity,
  OwnAttributes,
  OwnAttributesPatch,
  patchAttributes,
} from '../../domain/identities.ts';
import { pageOf, pageQuery, queryBoolean } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { Identity } from '../../domain/text.ts';
import { bodyErrors, jsonPointer, parseInput } from '../../domain/validation.ts';
import {
  findIdentity,
  type IdentityRow,
  listIdentities as listIdentityRows,
  saveIdentity,
  saveProfile,
} from '../../storage/identities.ts';
import { findTenant } from '../../storage/tenants.ts';
import { operation, reply } from '../operation.ts';

const IdentityPath = z.object({ identity: Identity });
const WhichIdentity = z.object({
  verified: queryBoolean.default(true).meta({
    override: documentedAs({ type: 'boolean', default: true }),
    description: 'Whether to use the verified or the claimed identity of that name (default: verified)',
  }),
});

const presentIdentity = ({ identity_verified, ...row }: IdentityRow) => ({
  ...row,
  verified: identity_verified,
  status: 'active',
});

const present = (row: IdentityRow | null) => row && presentIdentity(row);

export const listIdentities = operation({
  id: 'listIdentities',
  method: 'get',
  path: '/v1/identities',
  tag: 'Identities',
  summary: 'List known users, ordered by identity',
  description:
    'A user is known once a card was shown to them, they have a conversation, or they were created with `PUT`.',
  credentials: ['api-key', 'session'],
  right: 'identities:read',
  query: z.object({ ...pageQuery, verified: queryBoolean.optional(), q: IdentityStart.optional() }),
  status: 200,
  response: pageOf(IdentityProfile),
  async handle({ caller, query, after, page }, { storage }) {
    const { limit, ...filter } = query;
    return page(await listIdentityRows(storage.forTenant(caller.tenantId), filter, limit, after), presentIdentity);
  },
});

export const readIdentity = operation({
  id: 'readIdentity',
  method: 'get',
  path: '/v1/identities/{identity}',
  tag: 'Identities',
  summary: 'Get a user',
  description: 'Platform, locale and app version are those of the last answer, unless they were set explicitly.',
  credentials: ['api-key', 'session'],
  right: 'identities:read',
  params: IdentityPath,
  query: WhichIdentity,
  status: 200,
  response: IdentityProfile,
  etag: true,
  async handle({ caller, params, query }, { storage }) {
    const owner = { identity: params.identity, verified: query.verified };
    return presentIdentity(await findIdentity(storage.forTenant(caller.tenantId), owner));
  },
});

export const putIdentity = operation({
  id: 'putIdentity',
  method: 'put',
  path: '/v1/identities/{identity}',
  tag: 'Identities',
  summary: 'Create or replace a user',
  description:
    'Replaces the profile: attributes that the body lacks are removed. Creates the user if it is not known yet. With `If-None-Match: *`, a user who exists is not replaced, and the reply is 412.',
  credentials: ['api-key', 'session'],
  right: 'identities:write',
  audit: 'identity.replaced',
  params: IdentityPath,
  query: WhichIdentity,
  body: NewIdentity,
  status: 200,
  response: IdentityProfile,
  ifMatch: true,
  etag: true,
  otherStatuses: { 201: 'Created: no card was shown to this user before, and they had no profile or conversation' },
  async handle({ caller, params, query, body, requireMatch }, { storage }) {
    const owner = { identity: params.identity, verified: query.verified };
    let isNew = false;
    const row = await saveIdentity(storage.forTenant(caller.tenantId), owner, known => {
      requireMatch(present(known));
      isNew = known === null;
      return body;
    });
    return reply({ status: isNew ? 201 : 200, body: presentIdentity(row) });
  },
});

export const patchIdentity = operation({
  id: 'patchIdentity',
  method: 'patch',
  path: '/v1/identities/{identity}',
  tag: 'Identities',
  summary: 'Update a user',
  description: 'Changes only the fields in the body. An attribute with the value null is removed.',
  credentials: ['api-key', 'session'],
  right: 'identities:write',
  audit: 'identity.updated',
  params: IdentityPath,
  query: WhichIdentity,
  body: IdentityPatch,
  status: 200,
  response: IdentityProfile,
  ifMatch: true,
  etag: true,
  async handle({ caller, params, query, body, requireMatch }, { storage }) {
    const owner = { identity: params.identity, verified: query.verified };
    const row = await saveIdentity(storage.forTenant(caller.tenantId), owner, (known, profile) => {
      if (!known) throw notFound('identity');
      requireMatch(present(known));
      const { attributes, ...device } = body;
      return { ...profile, ...device, attributes: checkAttributes(patchAttributes(profile.attributes, attributes)) };
    });
    return presentIdentity(row);
  },
});

/** Checks the total size of attributes that are each valid. */
function checkAttributes(attributes: Attributes): Attributes {
  const parsed = parseInput(Attributes, attributes);
  if (parsed.success) return parsed.data;
  throw new Problem('validation-failed', 'The identity has too many attributes.', {
    errors: bodyErrors(parsed.faults, '/attributes'),
  });
}

export const patchMyAttributes = operation({
  id: 'patchMyAttributes',
  method: 'patch',
  path: '/v1/me/attributes',
  tag: 'Identities',
  summary: 'Set attributes of the current user',
  description:
    "Only attributes in the tenant's `identity_attributes_allowed` can be set, and only those are returned. Requires an access token; public tokens are rejected because their identity is not verified.",
  credentials: ['access-token'],
  body: OwnAttributesPatch,
  status: 200,
  response: OwnAttributes,
  async handle({ caller, body }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const allowed = new Set((await findTenant(tenant))?.identity_attributes_allowed);
    refuseUnlisted(Object.keys(body.attributes), allowed);
    const { attributes } = await saveProfile(tenant, caller, profile => ({
      ...profile,
      attributes: checkAttributes(patchAttributes(profile.attributes, body.attributes)),
    }));
    return { attributes: Object.fromEntries(Object.entries(attributes).filter(([name]) => allowed.has(name))) };
  },
});

function refuseUnlisted(names: string[], allowed: ReadonlySet<string>): void {
  const unlisted = names.filter(name => !allowed.has(name));
  if (unlisted.length === 0) return;
  throw new Problem('validation-failed', 'An app can only set attributes in `identity_attributes_allowed`.', {
    errors: unlisted.map(name => ({
      pointer: jsonPointer(['attributes', name]),
      code: 'not-allowed',
      detail: 'Must be listed in `identity_attributes_allowed` of the tenant.',
    })),
  });
}

/** Every operation on identities. */
export const identityRoutes = [listIdentities, readIdentity, putIdentity, patchIdentity, patchMyAttributes];
