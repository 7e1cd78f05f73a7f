import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { STATUS_OF } from '../src/api/http/problem.ts';
import type { Operation } from '../src/api/operation.ts';
import { OPERATIONS } from '../src/api/routes/index.ts';
import { createPasswordReset } from '../src/commands/password-resets.ts';
import { makeSetupLink } from '../src/commands/setup.ts';
import { PROBLEMS, type ProblemCode } from '../src/domain/problem.ts';
import { RIGHTS } from '../src/domain/roles.ts';
import { SCOPES } from '../src/domain/scopes.ts';
import { createLog } from '../src/platform/log.ts';
import { totpCode, totpStep } from '../src/platform/totp.ts';
import { createApi, createWorker, type TestApi, type TestReply, type TestRequest, waitFor } from './support/api.ts';
import { anAnswer, answerTo, aQuestion, makeTenant, storageOf, type TestTenant } from './support/make.ts';
import { createProvider, type TestProvider } from './support/oidc.ts';
import { cookieOf, makeMember, openSession, PASSWORD } from './support/person.ts';
import { noTerminal } from './support/process.ts';

const root = new URL('..', import.meta.url);
const stored = await readFile(new URL('docs/openapi.json', root), 'utf8');

const Schema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);
const Content = z.record(z.string().regex(/^application\/(problem\+)?json$/), z.strictObject({ schema: Schema }));
const Parameter = z.strictObject({
  name: z.string().min(1),
  in: z.enum(['query', 'path']),
  required: z.boolean().optional(),
  description: z.string().optional(),
  example: z.unknown().optional(),
  schema: Schema,
});
const DocumentedOperation = z.strictObject({
  operationId: z.string().regex(/^[a-z]+[A-Za-z]+$/),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(10).max(120),
  description: z.string().min(1).optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(Parameter).optional(),
  requestBody: z.strictObject({ required: z.literal(true), content: Content }).optional(),
  responses: z.record(
    z.string().regex(/^[2-5]\d\d$/),
    z.strictObject({ description: z.string().min(1), content: Content.optional() }),
  ),
});
/** The members of OpenAPI 3.1 that the document may use. */
const OpenApi = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({
    title: z.literal('Parley'),
    version: z.string(),
    description: z.string(),
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  servers: z.array(z.strictObject({ url: z.url() })).length(1),
  tags: z.array(z.strictObject({ name: z.string() })),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), DocumentedOperation),
  ),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[A-Za-z0-9._-]+$/), Schema),
    securitySchemes: z.record(
      z.string(),
      z.union([
        z.strictObject({
          type: z.literal('http'),
          scheme: z.enum(['bearer', 'basic']),
          bearerFormat: z.string().optional(),
          description: z.string(),
        }),
        z.strictObject({
          type: z.literal('apiKey'),
          in: z.literal('cookie'),
          name: z.string(),
          description: z.string(),
        }),
      ]),
    ),
  }),
});

const document = OpenApi.parse(JSON.parse(stored));
const documented = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method,
    ...(operation as z.infer<typeof DocumentedOperation>),
  })),
);

function* refsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') yield child;
    else yield* refsIn(child);
  }
}

describe('docs/openapi.json', () => {
  test("matches the program's output", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', 'openapi'], {
      cwd: root,
      env: { PATH: process.env.PATH },
      maxBuffer: 10_000_000,
    });
    expect(stored).toBe(stdout);
  });

  test('describes exactly the operations of the router', () => {
    const served = OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`);
    expect(documented.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`).sort()).toEqual(
      served.sort(),
    );
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });

  test('has no dangling references', () => {
    for (const ref of refsIn(document)) {
      const found = ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name.replaceAll('~1', '/')], document);
      expect([ref, typeof found]).toEqual([ref, 'object']);
    }
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { operationId, tags: own, security } of documented) {
      for (const tag of own) expect([operationId, tags.has(tag)]).toEqual([operationId, true]);
      for (const scheme of security.flatMap(Object.keys))
        expect(document.components.securitySchemes).toHaveProperty(scheme);
    }
  });

  test('declares exactly the parameters of each path', () => {
    for (const { operationId, path, parameters = [] } of documented) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]);
      const declared = parameters.filter(parameter => parameter.in === 'path');
      expect([operationId, declared.map(({ name }) => name).sort()]).toEqual([operationId, inPath.sort()]);
      for (const parameter of declared) expect(parameter.required).toBe(true);
      const names = parameters.map(parameter => `${parameter.in} ${parameter.name}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('has credentials, responses and problems for each operation', () => {
    for (const operation of OPERATIONS) {
      const {
        security,
        responses,
        description = '',
      } = documented.find(({ operationId }) => operationId === operation.id) as (typeof documented)[number];
      const isOpen = operation.credentials.length === 0 && operation.id !== 'issuePublicToken';
      expect([operation.id, security.length > 0]).toEqual([operation.id, !isOpen]);
      expect(responses).toHaveProperty(String(operation.status));
      expect([204, 302].includes(operation.status)).toBe(operation.response === undefined);
      if (!isOpen) for (const status of ['401', '403', '429', '503']) expect(responses).toHaveProperty(status);
      if (operation.right) {
        const { scope, roles } = RIGHTS[operation.right];
        if (scope && operation.credentials.includes('api-key')) expect(description).toContain(scope);
        if (operation.credentials.includes('session')) expect(description).toContain(roles.join(', '));
      }
      if (operation.params && operation.id !== 'issuePublicToken') expect(responses).toHaveProperty('404');
      if (operation.body) for (const status of ['413', '415', '422']) expect(responses).toHaveProperty(status);
    }
  });

  test('lists only existing problems, each under its status', () => {
    for (const { operationId, responses } of documented)
      for (const [status, { description, content }] of Object.entries(responses)) {
        if (!content?.['application/problem+json']) continue;
        for (const [, code] of description.matchAll(/`([^`]+)`/g)) {
          expect(PROBLEMS).toHaveProperty(code as string);
          expect([operationId, code, STATUS_OF[PROBLEMS[code as ProblemCode].kind]]).toEqual([
            operationId,
            code,
            Number(status),
          ]);
        }
      }
    const { properties } = document.components.schemas.Problem as { properties: { code: { enum: string[] } } };
    expect(properties.code.enum.sort()).toEqual(Object.keys(PROBLEMS).sort());
  });
});

describe('a running service', () => {
  let api: TestApi;
  let second: TestApi;
  let provider: TestProvider;
  let worker: Awaited<ReturnType<typeof createWorker>>;
  let tenant: TestTenant;
  const replies = new Map<string, TestReply>();

  /** Calls an operation by its id and keeps its reply. */
  async function call(
    id: string,
    params: Record<string, string> = {},
    request: TestRequest & { query?: string; of?: TestApi } = {},
  ) {
    const { method, path } = OPERATIONS.find(operation => operation.id === id) as Operation;
    const { query = '', of = api, ...rest } = request;
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] as string) + query;
    const reply = await of.request(method.toUpperCase(), target, { as: key.apiKey, ...rest });
    replies.set(id, reply);
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
    await call('readIdentity', user);
    await call('listIdentities');
  }

  async function useConversations(token: string): Promise<void> {
    const { body } = await call('createConversation', {}, { as: token, body: { message: 'Hello', subject: 'Help' } });
    const id = body.id as string;
    await call('createConversation', {}, { body: { message: 'Hello', identity: 'user|42' } });
    const reply = await call('createMessage', { id }, { body: { body: 'Yes?' } });
    await call('patchMessage', { id, message_id: reply.body.id }, { body: { body: 'Yes!' } });
    await call('listMessages', { id });
    await call('redactMessage', { id, message_id: reply.body.id });
    await call('countUnreadConversations', {}, { as: token });
    await call('markConversationRead', { id }, { as: token, body: { seq: 1 } });
    await call('readConversation', { id });
    await call('patchConversation', { id }, { body: { tags: ['vip'], status: 'resolved' } });
    await call('listConversations');
    await call('deleteConversation', { id });
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

  async function useTeam(): Promise<void> {
    const { headers } = await makeMember(api, tenant, 'owner');
    await by('readTenant', headers);
    const settings = { timezone: 'Europe/Berlin', locales: ['en', 'de'], identity_attributes_allowed: ['plan'] };
    await by('patchTenant', headers, {}, { body: settings });
    const user = { as: await tenant.sign('user|42'), body: { attributes: { plan: 'pro' } } };
    await call('patchMyAttributes', {}, user);
    const invite = (email: string) => by('inviteMember', headers, {}, { body: { email, role: 'agent' } });
    const revoked = await invite('revoked@acme.example');
    const invited = await invite('invited@acme.example');
    await by('listInvitations', headers);
    await by('revokeInvitation', headers, { id: revoked.body.id });
    const token = tokenIn(invited.body.link);
    await by('readInvitation', {}, { token });
    await by('acceptInvitation', {}, { token }, { body: { name: 'Invited', password: PASSWORD } });
    const { memberId: id } = await makeMember(api, tenant, 'agent');
    await by('listMembers', headers);
    await by('patchMember', headers, { id }, { body: { role: 'analyst' } });
    await by('removeMember', headers, { id });
    const made = await by('createApiKey', headers, {}, { body: { name: 'made here' } });
    await by('listApiKeys', headers);
    await by('readApiKey', headers, { id: made.body.id });
    await by('patchApiKey', headers, { id: made.body.id }, { body: { name: 'renamed' } });
    await by('rotateApiKey', headers, { id: made.body.id }, { body: {} });
    await by('revokeApiKey', headers, { id: made.body.id });
    await by('readAuditLog', headers);
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
    await useAnswers(token);
    await useConversations(token);
    await useIdentities();
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

  test('serves the document with its own URL', () => {
    const served = replies.get('readOpenApi')?.body;
    expect(served).toEqual({ ...JSON.parse(stored), servers: [{ url: 'https://parley.test' }] });
  });
});
