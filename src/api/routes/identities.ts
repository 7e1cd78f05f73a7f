import { z } from 'zod';
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
import { findIdentity, type IdentityRow, listIdentities, saveIdentity, saveProfile } from '../../storage/identities.ts';
import { findTenant } from '../../storage/tenants.ts';
import { operation } from '../operation.ts';

const IdentityPath = z.object({ identity: Identity });
const WhichIdentity = z.object({
  verified: queryBoolean
    .default(true)
    .meta({ description: 'The verified identity of that name, or the claimed one; verified by default' }),
});

const presentIdentity = ({ identity_verified, ...row }: IdentityRow) => ({
  ...row,
  verified: identity_verified,
  status: 'active',
});

const present = (row: IdentityRow | null) => row && presentIdentity(row);

const listIdentitiesOperation = operation({
  id: 'listIdentities',
  method: 'get',
  path: '/v1/identities',
  tag: 'Identities',
  summary: 'List the users that are known, in the order of their identities',
  description: 'Known is who was shown a card, has a conversation, or was told of with `PUT`.',
  credentials: ['api-key', 'session'],
  right: 'identities:read',
  query: z.object({ ...pageQuery, verified: queryBoolean.optional(), q: IdentityStart.optional() }),
  status: 200,
  response: pageOf(IdentityProfile),
  async handle({ caller, query, after, page }, { storage }) {
    const { limit, ...filter } = query;
    return page(await listIdentities(storage.forTenant(caller.tenantId), filter, limit, after), presentIdentity);
  },
});

const readIdentity = operation({
  id: 'readIdentity',
  method: 'get',
  path: '/v1/identities/{identity}',
  tag: 'Identities',
  summary: 'Say what is known of a user',
  description: 'Platform, locale and version are those of its last answer, unless they were said otherwise.',
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

const putIdentity = operation({
  id: 'putIdentity',
  method: 'put',
  path: '/v1/identities/{identity}',
  tag: 'Identities',
  summary: 'Say everything of a user anew; one that is not known yet becomes so',
  credentials: ['api-key', 'session'],
  right: 'identities:write',
  audit: 'identity.replaced',
  params: IdentityPath,
  query: WhichIdentity,
  body: NewIdentity,
  status: 200,
  response: IdentityProfile,
  problems: ['precondition-failed'],
  async handle({ caller, params, query, body, requireMatch }, { storage }) {
    const owner = { identity: params.identity, verified: query.verified };
    const row = await saveIdentity(storage.forTenant(caller.tenantId), owner, known => {
      requireMatch(present(known));
      return body;
    });
    return presentIdentity(row);
  },
});

const patchIdentity = operation({
  id: 'patchIdentity',
  method: 'patch',
  path: '/v1/identities/{identity}',
  tag: 'Identities',
  summary: 'Change some of what is said of a user',
  credentials: ['api-key', 'session'],
  right: 'identities:write',
  audit: 'identity.updated',
  params: IdentityPath,
  query: WhichIdentity,
  body: IdentityPatch,
  status: 200,
  response: IdentityProfile,
  problems: ['precondition-failed'],
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

/** Attributes that were good each by itself, and may be too many together. */
function checkAttributes(attributes: Attributes): Attributes {
  const parsed = Attributes.safeParse(attributes);
  if (parsed.success) return parsed.data;
  throw new Problem('validation-failed', 'The identity has too many attributes.', {
    errors: parsed.error.issues.map(({ message }) => ({ pointer: '/attributes', code: 'too-big', detail: message })),
  });
}

const patchMyAttributes = operation({
  id: 'patchMyAttributes',
  method: 'patch',
  path: '/v1/me/attributes',
  tag: 'Identities',
  summary: 'Say something of oneself, as the app of a user',
  description:
    "Only names on the tenant's list (`identity_attributes_allowed`) are taken, and only those are shown. With an access token: what a public token claims is not believed.",
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
      pointer: `/attributes/${name}`,
      code: 'not-allowed',
      detail: 'is not in `identity_attributes_allowed`',
    })),
  });
}

/** Every operation on identities. */
export const identityRoutes = [listIdentitiesOperation, readIdentity, putIdentity, patchIdentity, patchMyAttributes];
