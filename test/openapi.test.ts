import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RESPONSE_HEADERS } from '../src/api/openapi/headers.ts';
import type { Operation } from '../src/api/operation.ts';
import { OPERATIONS } from '../src/api/routes/index.ts';
import { createPasswordReset } from '../src/commands/password-resets.ts';
import { makeSetupLink } from '../src/commands/setup.ts';
import { SCOPES } from '../src/domain/team/scopes.ts';
import { createLog } from '../src/platform/log.ts';
import { totpCode, totpStep } from '../src/platform/totp.ts';
import { createApi, createWorker, type TestApi, type TestReply, type TestRequest, waitFor } from './support/api.ts';
import { anAnswer, answerTo, aQuestion, makeTenant, storageOf, type TestTenant } from './support/make.ts';
import { createProvider, type TestProvider } from './support/oidc.ts';
import { headersOf } from './support/openapi.ts';
import { cookieOf, makeMember, openSession, PASSWORD } from './support/person.ts';
import { noTerminal } from './support/process.ts';

const root = new URL('..', import.meta.url);
const stored = await readFile(new URL('docs/openapi.json', root), 'utf8');

type Requested = TestRequest & { query?: string; of?: TestApi };

/** Response headers that the document does not declare: for browsers, caches and connections. */
const UNDECLARED = [
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-type',
  'cross-origin-resource-policy',
  'date',
  'keep-alive',
  'referrer-policy',
  'strict-transport-security',
  'transfer-encoding',
  'x-content-type-options',
  'x-frame-options',
];

describe('a running service', () => {
  let api: TestApi;
  let second: TestApi;
  let provider: TestProvider;
  let worker: Awaited<ReturnType<typeof createWorker>>;
  let tenant: TestTenant;
  const replies = new Map<string, TestReply>();
  const sent: { id: string; reply: TestReply }[] = [];

  /** Calls an operation by its id and keeps its reply. */
  async function call(id: string, params: Record<string, string> = {}, request: Requested = {}) {
    const reply = await send(id, params, request);
    replies.set(id, reply);
    return reply;
  }

  /** Calls an operation by its id and keeps only the headers of its reply. */
  async function send(id: string, params: Record<string, string> = {}, request: Requested = {}) {
    const { method, path } = OPERATIONS.find(operation => operation.id === id) as Operation;
    const { query = '', of = api, ...rest } = request;
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] as string) + query;
    const reply = await of.request(method.toUpperCase(), target, { as: key.apiKey, ...rest });
    sent.push({ id, reply });
    return reply;
  }
  let key: TestTenant['key'];

  async function useQuestions(): Promise<string> {
    const { body } = await call('createQuestion', {}, { body: aQuestion({ allow_public: true }) });
    const id = body.id as string;
    for (const action of ['publish', 'pause', 'resume']) await call(`${action}Question`, { id });
    await call('readQuestion', { id });
    await call('patchQuestion', { id }, { body: { title: 'Still likely?' } });
    await call('listQuestionVersions', { id });
    const copy = await call('cloneQuestion', { id });
    await call('readQuestionTemplates', {});
    await call('listQuestions', {}, { query: '?limit=1&include=results' });
    await call('deleteQuestion', { id: copy.body.id });
    return id;
  }

  async function useAnswers(token: string): Promise<void> {
    const [card] = await waitFor(async () => {
      const { body } = await call('listCards', {}, { as: token });
      return body.data[0]?.question_version === 2 && body.data;
    });
    const answer = answerTo(card, { comment: 'fine', metadata: { platform: 'web' }, displayed_at: new Date() });
    await call('recordAnswers', {}, { as: token, body: { client_time: new Date(), answers: [answer, { id: 1 }] } });
    await waitFor(async () => (await call('readAnswer', { id: answer.id }, { as: token })).status === 200);
    const conflict = anAnswer({ ...answer, values: { main: 1 } });
    const sent = await call('recordAnswers', {}, { as: token, of: second, body: { answers: [conflict] } });
    expect(sent.body.results[0].status).toBe('accepted');
    const quarantined = await waitFor(async () => (await call('listQuarantine')).body.data[0]);
    await call('replayQuarantined', { id: quarantined.id });
    await waitFor(async () => (await call('readIngestion')).body.queued === 0);
    const [refusedAgain] = (await call('listQuarantine')).body.data;
    await call('readQuarantined', { id: refusedAgain.id });
    await call('discardQuarantined', { id: refusedAgain.id });
    await call('listAnswers');
    await call('patchAnswer', { id: answer.id }, { body: { tags: ['vip'] } });
    await call('readResults', { id: card.question_id });
    await call('deleteAnswer', { id: answer.id });
  }

  async function useIdentities(): Promise<void> {
    const user = { identity: 'user%7C42' };
    await call('putIdentity', user, { body: { attributes: { plan: 'pro', seats: 5, beta: true }, locale: 'de' } });
    await call('patchIdentity', user, { body: { attributes: { beta: null } } });
    await call(
      'saveIdentities',
      {},
      { body: { identities: [{ identity: 'user|43', locale: 'en' }, { identity: 7 }] } },
    );
    await call('listProfileChanges', user);
    await call('readIdentityAttributes');
    await call('readIdentity', user);
    await call('listIdentities');
  }

  async function useConversations(token: string): Promise<void> {
    const { body } = await call('createConversation', {}, { as: token, body: { message: 'Hello', subject: 'Help' } });
    const id = body.id as string;
    await call('createConversation', {}, { body: { message: 'Hello', identity: 'user|42' } });
    const reply = await call('createMessage', { id }, { body: { body: 'Yes?' } });
    await call('patchMessage', { id, message_id: reply.body.id }, { body: { body: 'Yes!' } });
    await call('readMessage', { id, message_id: reply.body.id });
    await call('listMessages', { id });
    await call('redactMessage', { id, message_id: reply.body.id });
    await call('countUnreadConversations', {}, { as: token });
    await call('markConversationRead', { id }, { as: token, body: { seq: 1 } });
    await call('readConversation', { id });
    await call('patchConversation', { id }, { body: { tags: ['vip'], status: 'resolved' } });
    await call('listConversations');
    await call('updateConversations', {}, { body: { ids: [id], change: { priority: 'low' } } });
    await useMacros(id);
    const other = await call('createConversation', {}, { as: token, body: { message: 'Hello again' } });
    await call('mergeConversation', { id }, { body: { into: other.body.id } });
    await call('deleteConversation', { id });
  }

  async function useMacros(id: string): Promise<void> {
    const changes = { status: 'snoozed', snooze_for_s: 3600, add_tags: ['later'] };
    const macro = await call('createMacro', {}, { body: { name: 'Later', body: 'A moment.', changes } });
    const { id: macroId } = macro.body;
    await call('readMacro', { id: macroId });
    await call('listMacros');
    await call('patchMacro', { id: macroId }, { body: { shortcut: 'later' } });
    await call('applyMacro', { id, macro_id: macroId });
    await call('deleteMacro', { id: macroId });
  }

  async function useWebhooks(): Promise<void> {
    const fields = { url: 'https://93.184.215.14/hook', event_types: ['answer.stored'] };
    const { id } = (await call('createWebhook', {}, { body: fields })).body;
    await call('readWebhook', { id });
    await call('listWebhooks');
    await call('patchWebhook', { id }, { body: { payload: 'thin' } });
    await call('rotateWebhookSecret', { id }, { body: { overlap_hours: 1 } });
    const test = await call('testWebhook', { id });
    await call('listDeliveries', { id });
    await call('readDelivery', { id, delivery_id: test.body.id });
    await call('replayDelivery', { id, delivery_id: test.body.id });
    await call('replayDeliveries', { id }, { body: { from: '2026-01-01T00:00:00.000Z' } });
    await call('deleteWebhook', { id });
  }

  /** Calls an operation with a session or without a credential. */
  const by = (
    id: string,
    headers: Record<string, string>,
    params = {},
    request: TestRequest & { query?: string } = {},
  ) => call(id, params, { ...request, as: undefined as never, headers });

  const tokenIn = (link: string | undefined): string => link?.split('#token=')[1] as string;

  async function useAccounts(): Promise<void> {
    const context = { ...api, storage: storageOf(api), log: createLog('silent', 'cli'), now: new Date() };
    const setup = {
      token: tokenIn(await makeSetupLink(storageOf(api), api.config, new Date())),
      tenant_name: 'First',
      name: 'Ada',
      email: 'ada@acme.example',
      password: PASSWORD,
    };
    await by('readLoginOptions', {});
    await by('setUp', {}, {}, { body: setup });
    const person = await makeMember(api, tenant, 'agent');
    await by('logIn', {}, {}, { body: { email: person.email, password: PASSWORD } });
    await by('patchMe', person.headers, {}, { body: { name: 'Grace' } });
    await by('listSessions', person.headers);
    const other = await openSession(api, person.accountId);
    const { body } = await api.request('GET', '/v1/me', { headers: other });
    await by('readSession', person.headers, { id: body.session.id });
    await by('endSession', person.headers, { id: body.session.id });
    const passwords = { current_password: PASSWORD, new_password: `${PASSWORD}!` };
    await by('changePassword', person.headers, {}, { body: passwords });
    const { body: enrolled } = await by('enrolTotp', person.headers, {}, { body: { password: `${PASSWORD}!` } });
    const totp = totpCode(enrolled.secret, totpStep(new Date()));
    await by('confirmTotp', person.headers, {}, { body: { totp } });
    await by('removeTotp', person.headers, {}, { body: { password: `${PASSWORD}!` } });
    await by('logOut', await openSession(api, person.accountId));
    await by('endSessions', await openSession(api, person.accountId));
    await by('requestPasswordReset', {}, {}, { body: { email: person.email } });
    const reset = await createPasswordReset({ ...context, ...noTerminal }, { email: person.email });
    await by('resetPassword', {}, { token: tokenIn(reset.link) }, { body: { password: PASSWORD } });
    const begun = await by('beginOidcLogin', {});
    provider.subject = { sub: 'grace', email: person.email, email_verified: true };
    const query = `?${await provider.walk(begun.headers.get('Location') ?? '')}`;
    await by('finishOidcLogin', { Cookie: cookieOf(begun.headers.get('Set-Cookie') ?? '') }, {}, { query });
  }

  async function useViews(headers: Record<string, string>): Promise<void> {
    const view = await by('createView', headers, {}, { body: { name: 'Urgent', filter: { priority: 'urgent' } } });
    await by('listViews', headers);
    await by('readView', headers, { id: view.body.id });
    await by('patchView', headers, { id: view.body.id }, { body: { shared: true } });
    await by('countConversationsOfViews', headers);
    await by('deleteView', headers, { id: view.body.id });
  }

  async function useTeam(): Promise<void> {
    const { headers } = await makeMember(api, tenant, 'owner');
    await by('readTenant', headers);
    const settings = { timezone: 'Europe/Berlin', locales: ['en', 'de'], identity_attributes_allowed: ['plan'] };
    await by('patchTenant', headers, {}, { body: settings });
    const demo = await by('createDemoTenant', headers);
    await by('readDemoTenant', headers, { id: demo.body.id });
    await by('deleteDemoTenant', headers, { id: demo.body.id });
    const user = { as: await tenant.sign('user|42'), body: { attributes: { plan: 'pro' } } };
    await call('patchMyAttributes', {}, user);
    const invite = (email: string) => by('inviteMember', headers, {}, { body: { email, role: 'agent' } });
    const revoked = await invite('revoked@acme.example');
    const invited = await invite('invited@acme.example');
    await by('listInvitations', headers);
    await by('readOpenInvitation', headers, { id: revoked.body.id });
    await by('revokeInvitation', headers, { id: revoked.body.id });
    const token = tokenIn(invited.body.link);
    await by('readInvitation', {}, { token });
    await by('acceptInvitation', {}, { token }, { body: { name: 'Invited', password: PASSWORD } });
    const { memberId: id } = await makeMember(api, tenant, 'agent');
    await useViews(headers);
    await by('listMembers', headers);
    const data = [{ name: 'All', then: { assign: { least_busy: [id] } } }];
    await by('previewAssignmentRules', headers, {}, { body: { data } });
    await by('replaceAssignmentRules', headers, {}, { body: { data } });
    await by('readAssignmentRules', headers);
    await by('readMember', headers, { id });
    await by('patchMember', headers, { id }, { body: { role: 'analyst' } });
    await by('removeMember', headers, { id });
    const made = await by('createApiKey', headers, {}, { body: { name: 'made here' } });
    await by('listApiKeys', headers);
    await by('readApiKey', headers, { id: made.body.id });
    await by('patchApiKey', headers, { id: made.body.id }, { body: { name: 'renamed' } });
    await by('rotateApiKey', headers, { id: made.body.id }, { body: {} });
    await by('revokeApiKey', headers, { id: made.body.id });
    await by('readAuditLog', headers);
    await by('readEvents', headers);
  }

  /** Replies with headers that success does not have. */
  async function useHeaders(question: string, token: string): Promise<void> {
    const { headers } = await send('readQuestion', { id: question });
    const etag = headers.get('ETag') ?? '';
    await send('readQuestion', { id: question }, { headers: { 'If-None-Match': etag } });
    await send('patchQuestion', { id: question }, { body: { priority: 1 }, headers: { 'If-Match': '"old"' } });
    const keyed = { body: aQuestion(), headers: { 'Idempotency-Key': 'once' } };
    for (let time = 1; time <= 2; time++) await send('createQuestion', {}, keyed);
    await send('listAnswers', {}, { query: '?updated_since=2026-01-01T00:00:00Z' });
    await send('listCards', {}, { as: `${token}x` });
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const reset = { as: undefined as never, of: limited, body: { email: 'limited@acme.example' } };
    for (let time = 1; time <= 6; time++) await send('requestPasswordReset', {}, reset);
  }

  beforeAll(async () => {
    provider = await createProvider('https://parley.test/v1/oidc/callback');
    api = await createApi({ settings: provider.settings });
    worker = await createWorker(api);
    second = await createApi({ sharing: api });
    tenant = await makeTenant(api);
    key = await tenant.addKey({ scopes: [...SCOPES] });
    const token = await tenant.sign('user|42');
    const publicKey = await tenant.addKey({ kind: 'public' });
    const authorization = `Basic ${Buffer.from(`api_key:${publicKey.id}`).toString('base64')}`;
    const issued = { as: undefined as never, headers: { authorization }, body: { user_id: 'user|1' } };
    await call('issuePublicToken', { tenant_id: tenant.id }, issued);
    await call('inspectToken', {}, { body: { token } });
    await call('whoAmI', {}, { as: token });
    for (const probe of ['readLiveness', 'readReadiness', 'readOpenApi']) await call(probe);
    const question = await useQuestions();
    const { headers } = await makeMember(api, tenant, 'admin');
    await by('issueTestToken', headers, { id: question });
    await by('estimateReach', headers, { id: question }, { body: {} });
    await by('readCardDecisions', headers, { identity: 'user|42' });
    await useAnswers(token);
    await useConversations(token);
    await useIdentities();
    await useWebhooks();
    await useHeaders(question, token);
    for (const action of ['close', 'archive']) await call(`${action}Question`, { id: question });
    await useAccounts();
    await useTeam();
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  test.each(OPERATIONS.map(operation => [operation.id, operation] as const))(
    'replies to %s exactly as documented',
    (id, { status, response }) => {
      const reply = replies.get(id);
      expect(reply).toMatchObject({ status });
      if (response) expect(response.parse(reply?.body)).toEqual(reply?.body);
      else expect(reply?.body).toBe('');
    },
  );

  test.each(OPERATIONS.filter(({ audit }) => audit !== undefined).map(({ id, audit }) => [id, audit] as const))(
    'leaves the line of %s in the audit log: %s',
    async (_, action) => {
      const lines = await api.database.query<{ actor_type: string; request_id: string; ip: string | null }>(
        'select actor_type, request_id, ip from audit_log where tenant_id = $1 and action = $2',
        [tenant.uuid, action],
      );
      expect(lines).not.toEqual([]);
      for (const line of lines) expect(line).toMatchObject({ request_id: expect.any(String), ip: null });
    },
  );

  test('sends the declared headers, and declares those that it sends', async () => {
    const document = replies.get('readOpenApi')?.body;
    const seen = new Set<string>();
    for (const { id, reply } of sent) {
      const declared = headersOf(document, id, reply.status);
      const names = [...reply.headers.keys()].filter(name => !UNDECLARED.includes(name));
      const required = Object.entries(declared).filter(([, header]) => header.required);
      for (const name of names) {
        expect([id, reply.status, Object.keys(declared).map(each => each.toLowerCase())]).toEqual([
          id,
          reply.status,
          expect.arrayContaining([name]),
        ]);
        seen.add(name);
      }
      for (const [name] of required)
        expect([id, reply.status, name, reply.headers.has(name)]).toEqual([id, reply.status, name, true]);
    }
    expect([...seen].sort()).toEqual(
      Object.keys(RESPONSE_HEADERS)
        .map(name => name.toLowerCase())
        .sort(),
    );
  });

  test('serves the document with its own URL', () => {
    const served = replies.get('readOpenApi')?.body;
    expect(served).toEqual({ ...JSON.parse(stored), servers: [{ url: 'https://parley.test' }] });
  });
});
