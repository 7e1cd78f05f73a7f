import { z } from 'zod';
import { documentedAs } from '../../domain/documented.ts';
import { pageOf, pageQuery, queryBoolean } from '../../domain/pages.ts';
import {
  EXAMPLE_RESULTS,
  IdentityAttribute,
  IdentityBatch,
  IdentityItem,
  IdentityPatch,
  IdentityProfile,
  IdentityResult,
  IdentityStart,
  MAX_PROFILES,
  NewIdentity,
  OwnAttributes,
  OwnAttributesPatch,
  patchProfile,
  presentIdentity,
} from '../../domain/people/identities.ts';
import {
  PROFILE_CHANGES_KEPT,
  PROFILE_CHANGES_KEPT_DAYS,
  ProfileChange,
  presentProfileChange,
} from '../../domain/people/profile-changes.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { Identity } from '../../domain/text.ts';
import { bodyErrors, type Fault, jsonPointer, parseItem } from '../../domain/validation.ts';
import {
  findIdentity,
  type IdentityRow,
  listIdentities as listIdentityRows,
  saveIdentity,
} from '../../storage/people/identities.ts';
import { listProfileChanges as listProfileChangeRows } from '../../storage/people/profile-changes.ts';
import {
  listAttributes,
  PROFILES_LOOKED_AT,
  patchProfiles,
  type SavedProfile,
  saveProfile,
} from '../../storage/people/profiles.ts';
import { findTenant } from '../../storage/tenants/tenants.ts';
import { actorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';

const IdentityPath = z.object({ identity: Identity });
const WhichIdentity = z.object({
  verified: queryBoolean.default(true).meta({
    override: documentedAs({ type: 'boolean', default: true }),
    description: 'Whether to use the verified or the claimed identity of that name (default: verified)',
  }),
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
  query: z.object({
    ...pageQuery,
    verified: queryBoolean.optional().meta({
      description:
        '`true`: users whose identity is proven by an access token or an API key; `false`: claimed identities',
    }),
    q: IdentityStart.optional(),
  }),
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
    const change = (known: IdentityRow | null) => {
      requireMatch(present(known));
      isNew = known === null;
      return body;
    };
    const { row, status } = await saveIdentity(storage.forTenant(caller.tenantId), owner, change, actorOf(caller));
    return reply({ status: isNew ? 201 : 200, body: presentIdentity(row), unchanged: status === 'unchanged' });
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
    const change = (known: IdentityRow | null, profile: NewIdentity) => {
      if (!known) throw notFound('identity');
      requireMatch(present(known));
      return patchOrThrow(profile, body);
    };
    const { row, status } = await saveIdentity(storage.forTenant(caller.tenantId), owner, change, actorOf(caller));
    return reply({ body: presentIdentity(row), unchanged: status === 'unchanged' });
  },
});

/** Returns the profile after a patch. Throws 422 if it has too many attributes, each of which may be valid. */
function patchOrThrow(profile: NewIdentity, patch: IdentityPatch): NewIdentity {
  const patched = patchProfile(profile, patch);
  if (patched.success) return patched.data;
  throw new Problem('validation-failed', 'The identity has too many attributes.', {
    errors: bodyErrors(patched.faults, '/attributes'),
  });
}

/** Returns the result of an invalid item, with its identity if it has one. */
function rejection(item: unknown, { path, code, detail }: Fault): IdentityResult {
  const { identity, verified = true } = (typeof item === 'object' && item !== null ? item : {}) as Record<
    string,
    unknown
  >;
  return {
    identity: typeof identity === 'string' ? identity.slice(0, 256).toWellFormed() : null,
    verified: typeof verified === 'boolean' ? verified : null,
    ...{ status: 'rejected', code, detail, pointer: jsonPointer(path) },
  };
}

const resultOf = (item: IdentityItem, saved: SavedProfile): IdentityResult =>
  saved.status === 'rejected'
    ? rejection(item, { ...saved.fault, path: ['attributes', ...saved.fault.path] })
    : { identity: item.identity, verified: item.verified, status: saved.status };

export const saveIdentities = operation({
  id: 'saveIdentities',
  method: 'post',
  path: '/v1/identities',
  tag: 'Identities',
  summary: 'Create or update many users',
  description: `Changes up to ${MAX_PROFILES} users in one transaction, each like \`PATCH\`, and creates those who are not known yet. Each item has its own result, in order, and an invalid item never affects the others. A profile that stays the same is not written. A user who is named twice is changed twice, in order.`,
  credentials: ['api-key', 'session'],
  right: 'identities:write',
  audit: 'identity.updated',
  body: IdentityBatch,
  status: 200,
  response: z
    .object({ results: z.array(IdentityResult).meta({ example: EXAMPLE_RESULTS }) })
    .meta({ id: 'IdentityResults' }),
  async handle({ caller, body }, { storage }) {
    const parsed = body.identities.map(item => parseItem(IdentityItem, item));
    const valid = parsed.flatMap(item => (item.success ? [item.data] : []));
    const saved = (await patchProfiles(storage.forTenant(caller.tenantId), valid, actorOf(caller))).values();
    const results = parsed.map((item, index) =>
      item.success
        ? resultOf(item.data, saved.next().value as SavedProfile)
        : rejection(body.identities[index], item.faults[0] as Fault),
    );
    const unchanged = results.every(({ status }) => status === 'unchanged' || status === 'rejected');
    return reply({ body: { results }, unchanged });
  },
});

export const listProfileChanges = operation({
  id: 'listProfileChanges',
  method: 'get',
  path: '/v1/identities/{identity}/changes',
  tag: 'Identities',
  summary: "List changes of a user's profile, latest first",
  description: `The last ${PROFILE_CHANGES_KEPT} changes of the last ${PROFILE_CHANGES_KEPT_DAYS} days, with the values before and after. The creation of a profile is not a change. When a field is removed from the profile, its values are removed from all changes too. The list of an unknown user is empty.`,
  credentials: ['api-key', 'session'],
  right: 'identities:read',
  params: IdentityPath,
  query: z.object({ ...pageQuery, ...WhichIdentity.shape }),
  status: 200,
  response: pageOf(ProfileChange),
  async handle({ caller, params, query, after, page }, { storage }) {
    const { limit, verified } = query;
    const owner = { identity: params.identity, verified };
    return page(
      await listProfileChangeRows(storage.forTenant(caller.tenantId), owner, limit, after),
      presentProfileChange,
    );
  },
});

export const readIdentityAttributes = operation({
  id: 'readIdentityAttributes',
  method: 'get',
  path: '/v1/identity-attributes',
  tag: 'Identities',
  summary: 'Get the attributes in use',
  description: `The names, types and most frequent values of the attributes of the ${PROFILES_LOOKED_AT.toLocaleString('en')} users whose profiles changed last.`,
  credentials: ['api-key', 'session'],
  right: 'identities:read',
  status: 200,
  response: z.object({ data: z.array(IdentityAttribute) }).meta({ id: 'IdentityAttributes' }),
  heavy: true,
  async handle({ caller }, { storage }) {
    return { data: await listAttributes(storage.forTenant(caller.tenantId)) };
  },
});

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
    const { attributes } = await saveProfile(tenant, caller, profile => patchOrThrow(profile, body), actorOf(caller));
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
export const identityRoutes = [
  listIdentities,
  saveIdentities,
  readIdentity,
  putIdentity,
  patchIdentity,
  listProfileChanges,
  readIdentityAttributes,
  patchMyAttributes,
];
