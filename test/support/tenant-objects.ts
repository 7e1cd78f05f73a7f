import { v7 } from 'uuid';
import { type IdPrefix, toTypeId } from '../../src/domain/ids.ts';
import { type TestApi, waitFor } from './api.ts';
import { anAcceptedAnswer, anAnswer, publishQuestion, type TestTenant, uuidOfKey } from './make.ts';
import { makeMember, openSession, type TestPerson } from './person.ts';

/** The user who owns the objects that a user can own. */
export const IDENTITY = 'user|42';

/** Objects of one tenant, one of each kind in a path. */
export interface Objects {
  questions: string;
  answers: string;
  conversations: string;
  quarantine: string;
  'api-keys': string;
  members: string;
  invitations: string;
  sessions: string;
  identities: string;
  macros: string;
  webhooks: string;
  delivery: string;
  views: string;
  'demo-tenants': string;
  message: string;
}

/** A valid id of an object that does not exist. */
export const made = (prefix: IdPrefix): string => toTypeId(prefix, v7());

/** Valid ids of objects that do not exist. */
export const missing = (): Objects => ({
  questions: made('question'),
  answers: v7(),
  conversations: made('conversation'),
  quarantine: made('quarantine'),
  'api-keys': made('key'),
  members: made('member'),
  invitations: made('invitation'),
  sessions: made('session'),
  identities: v7(),
  macros: made('macro'),
  webhooks: made('webhook'),
  delivery: made('delivery'),
  views: made('view'),
  'demo-tenants': made('tenant'),
  message: made('message'),
});

/** The demo tenant of a person, who can own only one at a time. */
async function demoTenantOf(api: TestApi, { headers }: TestPerson): Promise<string> {
  const { body } = await api.request('GET', '/v1/me', { headers });
  const owned = body.account.memberships.find(({ tenant }: { tenant: { demo: boolean } }) => tenant.demo);
  return owned?.tenant.id ?? (await api.request('POST', '/v1/demo-tenants', { headers })).body.id;
}

/** One object of each kind. Those that a user can own belong to `IDENTITY`; `author` wrote the message. */
export async function makeObjects(
  api: TestApi,
  tenant: TestTenant,
  author: string,
  person: TestPerson,
): Promise<Objects> {
  const question = await publishQuestion(api, tenant);
  const answer = anAnswer({ question_id: question.id, identity: IDENTITY });
  const key = tenant.key.apiKey;
  await api.request('POST', '/v1/answers', { as: key, body: { answers: [answer] } });
  const started = await api.request('POST', '/v1/conversations', {
    as: await tenant.sign(IDENTITY),
    body: { message: 'Hello' },
  });
  const written = await api.request('POST', `/v1/conversations/${started.body.id}/messages`, {
    as: author,
    body: { body: 'How do you do' },
  });
  const macro = await api.request('POST', '/v1/macros', { as: key, body: { name: 'Reply', body: 'Yes' } });
  await api.database.query('delete from webhooks where tenant_id = $1', [tenant.uuid]);
  await api.database.query('update api_keys set revoked_at = now() where tenant_id = $1 and id <> $2', [
    tenant.uuid,
    uuidOfKey(tenant.key),
  ]);
  const fields = { url: 'https://93.184.215.14/hook', event_types: ['api_key.revoked'] };
  const webhook = await api.request('POST', '/v1/webhooks', { as: key, body: fields });
  const delivery = await api.request('POST', `/v1/webhooks/${webhook.body.id}/test`, { as: key });
  await api.database.query("update deliveries set status = 'delivered' where tenant_id = $1", [tenant.uuid]);
  const view = await api.request('POST', '/v1/views', { headers: person.headers, body: { name: 'Mine' } });
  const quarantined = v7();
  await api.database.query(
    `insert into quarantined_answers (tenant_id, id, answer_id, reason, detail, payload, quarantined_at)
     values ($1, $2, $3, 'invalid-value', 'made by a test', $4, now())`,
    [
      tenant.uuid,
      quarantined,
      answer.id,
      JSON.stringify(anAcceptedAnswer({ tenant_id: tenant.uuid, id: answer.id, question_id: v7() })),
    ],
  );
  await waitFor(async () => (await api.request('GET', `/v1/answers/${answer.id}`, { as: key })).status === 200);
  const invited = await api.request('POST', '/v1/members', {
    headers: person.headers,
    body: { email: `${v7()}@acme.example`, role: 'agent' },
  });
  const session = await api.request('GET', '/v1/me', { headers: await openSession(api, person.accountId) });
  return {
    'api-keys': (await tenant.addKey()).id,
    members: (await makeMember(api, tenant, 'agent')).memberId,
    invitations: invited.body.id,
    sessions: session.body.session.id,
    questions: question.id,
    answers: answer.id,
    conversations: started.body.id,
    quarantine: toTypeId('quarantine', quarantined),
    identities: encodeURIComponent(IDENTITY),
    macros: macro.body.id,
    webhooks: webhook.body.id,
    delivery: delivery.body.id,
    views: view.body.id,
    'demo-tenants': await demoTenantOf(api, person),
    message: written.body.id,
  };
}
