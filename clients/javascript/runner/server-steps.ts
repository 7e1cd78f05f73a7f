import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createServerClient,
  type List,
  newId,
  ParleyError,
  type RequestOptions,
  type ServerClient,
  signToken,
} from '../src/server/index.ts';
import { OPERATIONS, type OperationName, RESOURCES } from '../src/server/operations.ts';
import { eventually, expectEqual, expectFailure, print, type Step, type Steps, setting } from './steps.ts';

interface Arguments {
  params?: Record<string, string>;
  query?: { verified?: boolean };
  body?: object;
  if_match?: string;
  idempotency_key?: string;
}

/** The contract's arguments in the order of this client's parameters. */
export function inOrder(operation: OperationName, { params = {}, query, body, if_match, idempotency_key }: Arguments) {
  const [method, path, kind]: readonly [string, string, string?] = OPERATIONS[operation];
  const options: RequestOptions & { verified?: boolean } = {
    ...(if_match === undefined ? {} : { ifMatch: if_match }),
    ...(idempotency_key === undefined ? {} : { idempotencyKey: idempotency_key }),
    ...(method === 'GET' || query?.verified === undefined ? {} : { verified: query.verified }),
  };
  const names = (path.match(/\{\w+\}/g) ?? []).map(name => params[name.slice(1, -1)]);
  const isBodyOptional = operation === 'applyMacro';
  if (kind) return [...names, query];
  if (method === 'GET') return names;
  return body === undefined && !isBodyOptional ? [...names, options] : [...names, body, options];
}

/** The method of a client for an operation. */
export function methodOf(client: ServerClient, operation: OperationName): (...args: unknown[]) => unknown {
  for (const [resource, methods] of Object.entries(RESOURCES))
    for (const [name, id] of Object.entries(methods)) if (id === operation) return (client as never)[resource][name];
  throw new Error(`no such operation: ${operation}`);
}

/** Server steps. */
export function createServerSteps(): Steps {
  const client = createServerClient({
    baseUrl: setting('SERVICE_BASE_URL'),
    apiKey: setting('SERVICE_API_KEY'),
    retry: { baseMs: Number(setting('PARLEY_RETRY_BASE_MS')) },
  });
  const saved = new Map<string, string>([['language', 'javascript']]);
  const journal = join(setting('PARLEY_STATE'), 'journal.jsonl');

  const fill = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value ?? {}).replace(/\{(\w+)\}/g, (all, name) => saved.get(name) ?? all));

  // biome-ignore lint/suspicious/noExplicitAny: the scenario names the operation
  const call = (operation: OperationName, args: Arguments): any =>
    methodOf(client, operation)(...inOrder(operation, fill(args)));

  /** Writes an answer to the journal, flushed to disk, before it is sent. */
  function note(answer: { id: string; identity: string }): void {
    const file = openSync(journal, 'a');
    appendFileSync(file, `${JSON.stringify(answer)}\n`);
    fsyncSync(file);
    closeSync(file);
    print({ recorded: answer.id, identity: answer.identity });
  }

  async function questionWith(title: string): Promise<string> {
    for await (const question of client.questions.list({ q: title })) if (question.title === title) return question.id;
    throw new Error(`there is no question "${title}"`);
  }

  async function count(list: List<unknown>): Promise<number> {
    let items = 0;
    for await (const _ of list) items++;
    return items;
  }

  return {
    async sign({ user, as }) {
      const grant = { keyId: setting('SERVICE_API_KEY_ID'), secret: setting('SERVICE_API_KEY_SECRET') };
      saved.set(as, await signToken({ ...grant, tenantId: setting('SERVICE_TENANT_ID'), identity: user }));
    },
    async inspect(step) {
      const { valid, code } = await client.tokens.inspect({ token: saved.get(step.token) ?? step.token });
      expectEqual({ valid, code }, { valid: step.valid, code: step.code }, 'the inspection');
    },
    async call(step) {
      const run = () => call(step.operation, step.arguments);
      if (step.failure) return expectFailure(step, run);
      const result = await run();
      for (const [name, field] of Object.entries(step.save ?? {})) saved.set(name, result[field as string]);
      for (const [field, value] of Object.entries(step.expect ?? {})) expectEqual(result[field], value, field);
    },
    async iterate(step) {
      const check = async () => expectEqual(await count(call(step.operation, step.arguments)), step.count, 'items');
      await (step.wait ? eventually(check) : check());
    },
    async record_answers(step) {
      const { question, identity } = fill({ question: step.question, identity: step.identity });
      const answers = step.values.map((value: never) => ({
        id: newId(),
        revision: 1,
        identity,
        question_id: question,
        question_version: 1,
        state: 'completed',
        values: { main: value },
      }));
      const { results } = await client.answers.record({ answers });
      expectEqual(
        results.map(({ status }) => status),
        step.statuses,
        'the receipts',
      );
    },
    async record_many(step: Step) {
      const question_id = await eventually(() => questionWith(step.question));
      for (let n = 0; n < step.count; n++) {
        const answer = { id: newId(), revision: 1, identity: step.identity, question_id, question_version: 1 };
        note({ ...answer, ...{ state: 'completed', values: { main: 1 + (n % 5) } } });
        await new Promise(resolve => setTimeout(resolve, step.pause_ms));
      }
    },
    async drain() {
      const lines = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(0, -1) : [];
      for (let first = 0; first < lines.length; first += 100) {
        const answers = lines.slice(first, first + 100).map(line => JSON.parse(line));
        await eventually(async () => {
          const { results } = await client.answers.record({ answers });
          const refused = results.find(({ status }) => status === 'rejected');
          if (refused) throw new ParleyError('invalid', JSON.stringify(refused));
        });
      }
    },
    async call_many({ operation, identity, count: times }) {
      for (let n = 1; n <= times; n++) {
        const body = { identity, subject: `Many ${n}`, message: 'First' };
        await eventually(() => call(operation, { body, idempotency_key: `many-${n}` }));
      }
    },
  };
}
