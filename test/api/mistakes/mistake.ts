import type { TestApi, TestReply } from '../../support/api.ts';
import {
  anAnswer,
  claimToken,
  makeTenant,
  publishQuestion,
  type TestKey,
  type TestTenant,
} from '../../support/make.ts';
import { makeMember, type TestPerson } from '../../support/person.ts';

/** The data of the mistakes: a tenant with each kind of credential, and one object of each resource. */
export interface Scene {
  api: TestApi;
  tenant: TestTenant;
  other: TestTenant;
  key: string;
  token: string;
  guest: string;
  owner: TestPerson;
  agent: TestPerson;
  publicKey: TestKey;
  /** A live question of the type nps. */
  question: string;
  draft: string;
  choice: string;
  card: string;
  conversation: string;
}

export async function createScene(api: TestApi): Promise<Scene> {
  const tenant = await makeTenant(api);
  const key = tenant.key.apiKey;
  const token = await tenant.sign('user|42');
  const question = await publishQuestion(api, tenant, { allow_public: true, frequency: { ignore_cooldown: true } });
  const options = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' },
  ];
  const choice = await publishQuestion(api, tenant, { type: 'single_choice', config: { options } });
  const draft = await api.request('POST', '/v1/questions', { as: key, body: { type: 'nps', title: 'A draft' } });
  const cards = await api.request('GET', '/v1/cards', { as: token });
  const started = await api.request('POST', '/v1/conversations', {
    as: token,
    body: { message: 'Where is the export?', client_message_id: 'first' },
  });
  const publicKey = await tenant.addKey({ kind: 'public' });
  return {
    ...{ api, tenant, key, token, publicKey },
    other: await makeTenant(api, 'Other'),
    guest: await claimToken(api, tenant, 'guest', publicKey),
    owner: await makeMember(api, tenant, 'owner'),
    agent: await makeMember(api, tenant, 'agent'),
    question: question.id,
    choice: choice.id,
    draft: draft.body.id,
    card: cards.body.data[0].id,
    conversation: started.body.id,
  };
}

/** The place of a fault: a JSON pointer into the body, `?` and a query parameter, or `#` and a header. */
export type Place = string | undefined;

/** A mistake: the request, and its problem as status, code, place and sentence of the first fault. */
export type Mistake = [
  name: string,
  send: (scene: Scene) => Promise<TestReply>,
  status: number,
  code: string,
  place: Place,
  says: string | RegExp,
];

interface Fault {
  pointer?: string;
  parameter?: string;
  code: string;
  detail: string;
}

/** The parts of a reply: the problem's code, or that of its first fault or rejected item, with its place and sentence. */
export function told({ status, body }: TestReply): { status: number; code: string; place: Place; says: string } {
  const item = body.results?.[0] as Fault | undefined;
  const fault = (body.errors?.[0] as Fault | undefined) ?? item;
  return {
    status,
    code: fault?.code ?? body.code,
    place: fault?.pointer ?? (fault?.parameter === undefined ? undefined : `@${fault.parameter}`),
    says: fault?.detail ?? body.detail,
  };
}

const SESSION_WRITE = { 'Content-Type': 'application/json' };

/** Sends with the API key. */
export const asKey =
  (method: string, path: string | ((scene: Scene) => string), body?: unknown, headers = {}) =>
  (scene: Scene): Promise<TestReply> =>
    scene.api.request(method, typeof path === 'string' ? path : path(scene), { as: scene.key, body, headers });

/** Sends with the access token of `user|42`. */
export const asUser =
  (method: string, path: string | ((scene: Scene) => string), body?: unknown, headers = {}) =>
  (scene: Scene): Promise<TestReply> =>
    scene.api.request(method, typeof path === 'string' ? path : path(scene), { as: scene.token, body, headers });

/** Sends with the session of the owner. */
export const asOwner =
  (method: string, path: string | ((scene: Scene) => string), body?: unknown, headers = {}) =>
  (scene: Scene): Promise<TestReply> =>
    scene.api.request(method, typeof path === 'string' ? path : path(scene), {
      body,
      headers: { ...SESSION_WRITE, ...scene.owner.headers, ...headers },
    });

/** Sends one answer of the API key to the live question, with these fields. */
export const answering = (fields: (scene: Scene) => object) => (scene: Scene) =>
  scene.api.request('POST', '/v1/answers', {
    as: scene.key,
    body: { answers: [anAnswer({ identity: 'user|42', question_id: scene.question, ...fields(scene) })] },
  });
