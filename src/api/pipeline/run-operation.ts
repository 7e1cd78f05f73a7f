import type { Context } from 'koa';
import { z } from 'zod';
import type { FieldCode } from '../../domain/field-errors.ts';
import { notFound, Problem, type ProblemError } from '../../domain/problem.ts';
import { bodyErrors, type Fault, parameterErrors, parseInput } from '../../domain/validation.ts';
import { once } from '../../platform/once.ts';
import { createTurns } from '../../platform/turns.ts';
import type { Caller, TeamCaller } from '../caller.ts';
import { authenticate, authorizationOf, authorize } from '../credentials/authenticate.ts';
import { requireSameOrigin } from '../credentials/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { hasBody, MAX_BODY_BYTES, MAX_PUBLIC_BODY_BYTES, type ReadBody, readBody } from '../http/body.ts';
import { isOidcPath } from '../http/browser-addresses.ts';
import { allowAnyOrigin } from '../http/cors.ts';
import type { Cursors } from '../http/cursors.ts';
import { matchesNone, versionTagOf } from '../http/etag.ts';
import { isReply, type Operation, reply } from '../operation.ts';
import { recordAuditEntry } from './audit-trail.ts';
import { type KeyedOperation, readIdempotencyKey, runOnce } from './idempotency.ts';
import { limitCaller, limitItems } from './limit.ts';
import { ServedRequest } from './served-request.ts';

/** For reads with an `ETag`: privately cached and always revalidated. */
const REVALIDATE = 'private, max-age=0, must-revalidate';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Serves one request by an operation: authentication, validation, handler, reply.
 *
 * Steps that usually have nothing to wait for are not awaited then: requests of a batch stay in step only if they pass
 * the same few awaits (docs/decisions/0031-work-per-request.md).
 */
export const runOperation = (operation: Operation, cursors: Cursors, deps: ApiDeps) => {
  const parseParams = createParamsParser(operation);
  const parseQuery = createQueryParser(operation);
  const parseBody = createBodyParser(operation);
  const performs = operation.heavy ? performHeavy : perform;
  return async (ctx: Context): Promise<void> => {
    ctx.state.route = operation.path;
    ctx.state.basicAuth = operation.basicAuth;
    if (operation.crossOrigin) allowAnyOrigin(ctx);
    const announcesBody = hasBody(ctx.req);
    if (!operation.isProbe) await deps.overload.admit(announcesBody);
    if (operation.sameOrigin) requireSameOrigin(ctx.req, deps.config.BASE_URL);
    const request = new ServedRequest(ctx, operation, cursors, deps);
    const authorization = authorizationOf(ctx.req);
    const identified =
      operation.credentials.length > 0 ? authenticate(ctx.req, authorization, operation, deps) : undefined;
    const caller = identified instanceof Promise ? await identified : identified;
    if (caller) {
      await limitCaller(ctx, caller, deps);
      authorize(caller, operation.credentials, operation.right);
    }
    request.caller = caller as never;
    request.params = parseParams(ctx.params) as never;
    if (operation.precheck) await operation.precheck(request, deps);
    request.query = parseQuery(ctx.querystring) as never;
    const maxBytes = caller?.kind === 'public-access-token' ? MAX_PUBLIC_BODY_BYTES : MAX_BODY_BYTES;
    const read = announcesBody ? await readBody(ctx, maxBytes) : undefined;
    if (read) deps.metrics.httpBodyBytes.observe({ route: operation.path }, read.bytes.length);
    request.sent = read?.json;
    request.body = parseBody(read) as never;
    const items = operation.items?.(request.body) ?? 1;
    if (caller && items > 1) await limitItems(ctx, caller, items, deps);
    request.bodyBytes = read?.bytes.length ?? 0;
    request.openCursor();
    const key = readIdempotencyKey(ctx, caller, operation);
    if (key === undefined) return performs(ctx, operation, request, deps);
    const run = actInTransaction(ctx, operation, request);
    const keyed = { key, body: read, showsSecret: operation.showsSecret === true };
    await runOnce(ctx, caller as TeamCaller, keyed, deps, run);
  };
};

/** Runs the handler and sends its result. */
async function perform(ctx: Context, operation: Operation, request: ServedRequest, deps: ApiDeps): Promise<void> {
  if (operation.prepare) await operation.prepare(request, deps);
  const result = await runHandler(operation, request, deps);
  if (isReply(result)) {
    await result.afterwards?.(deps);
    result.announce?.();
  }
  send(ctx, operation, operation.heavy ? await serializeInTurns(result) : result);
}

/** Like `perform`, for a read whose cost depends on the amount of stored data, bounded by `heavy-reads.ts`. */
const performHeavy = (ctx: Context, operation: Operation, request: ServedRequest, deps: ApiDeps): Promise<void> => {
  const { caller, query } = request;
  return deps.heavyReads.run({ operation, caller, query, storage: deps.storage }, storage =>
    perform(ctx, operation, request, { ...deps, storage }),
  );
};

/** Like `perform`, in the transaction of an `Idempotency-Key`. Returns the steps after its commit. */
const actInTransaction =
  (ctx: Context, operation: Operation, request: ServedRequest): KeyedOperation =>
  async deps => {
    const result = await runHandler(operation, request, deps);
    send(ctx, operation, result);
    return isReply(result) ? result : {};
  };

/** Runs the handler. Audited operations run in one transaction with their audit entry; without one if unchanged. */
function runHandler({ audit, handle, method }: Operation, request: ServedRequest, deps: ApiDeps): unknown {
  const caller = request.caller as Caller | undefined;
  if (!audit || !caller || 'identity' in caller) return handle(request, deps);
  return deps.storage.inTransaction(async storage => {
    const transactionDeps = { ...deps, storage };
    const result = await handle(request, transactionDeps);
    const isUnchanged =
      (isReply(result) && result.unchanged === true) || (method === 'patch' && request.isVersionBefore(result));
    if (!isUnchanged) await recordAuditEntry(audit, caller, request, result, transactionDeps);
    return result;
  });
}

/** A schema compiled at first use, which makes it three times as fast. Compiling a body with many types can take seconds. */
const compiled = (schema: z.ZodType): (() => z.ZodType) => once(() => z.compile(schema));

/** A path parameter that cannot be valid results in 404. */
function createParamsParser({ params }: Operation): (sent: unknown) => unknown {
  if (!params) return () => undefined;
  const schema = compiled(params);
  return sent => {
    const parsed = schema().safeParse(sent);
    if (!parsed.success) throw notFound('object');
    return parsed.data;
  };
}

/** Valid queries that are remembered per operation. The users of an app send few different ones. */
const REMEMBERED_QUERIES = 100;
const REMEMBERED_QUERY_LENGTH = 200;

/** Creates the parser of query parameters. Results are shared by requests with the same query, so they are frozen. */
function createQueryParser({ query, heavy, path }: Operation): (querystring: string) => unknown {
  const known = new Set(Object.keys((query as z.ZodObject | undefined)?.shape ?? {}));
  const schema = query && compiled(query);
  const read = isOidcPath(path) ? readKnownParameters : readParameters;
  const parse = (querystring: string): unknown => {
    const sent = read(querystring, known);
    return schema && parseOr422(schema(), sent, 'The query does not match the schema.', parameterErrors);
  };
  if (heavy) return parse; // lists have cursors, so their queries rarely recur
  const remembered = new Map<string, unknown>();
  return querystring => {
    const found = remembered.get(querystring);
    if (found !== undefined || (querystring === '' && !query)) return found;
    const parsed = Object.freeze(parse(querystring));
    if (remembered.size >= REMEMBERED_QUERIES) remembered.clear();
    if (querystring.length <= REMEMBERED_QUERY_LENGTH) remembered.set(querystring, parsed);
    return parsed;
  };
}

/** Returns the first value of each known parameter, and ignores all others. */
const readKnownParameters = (querystring: string, known: Set<string>): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(`?${querystring}`)].filter(([name]) => known.has(name)).reverse());

function readParameters(querystring: string, known: Set<string>): Record<string, string> {
  const sent = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(`?${querystring}`)) {
    const fault = (code: FieldCode, detail: string): { errors: ProblemError[] } => ({
      errors: [{ parameter: name.slice(0, 100).toWellFormed(), code, detail }],
    });
    if (!known.has(name))
      throw new Problem(
        'unknown-parameter',
        'The query has an unknown parameter.',
        fault(
          'unknown-parameter',
          known.size > 0 ? `Must be one of ${[...known].join(', ')}.` : 'This endpoint has no query parameters.',
        ),
      );
    if (sent.has(name))
      throw new Problem(
        'repeated-parameter',
        'A query parameter is repeated.',
        fault('repeated-parameter', 'Must appear only once.'),
      );
    sent.set(name, value);
  }
  return Object.fromEntries(sent);
}

/** Bodies that only the team sends are not compiled: they are rare, and that of a question would block the process for 2 s. */
function createBodyParser({ body, isBodyOptional, credentials }: Operation): (read: ReadBody | undefined) => unknown {
  if (!body) return refuseBody;
  const schema = credentials.includes('access-token') ? compiled(body) : () => body;
  const absent = isBodyOptional ? {} : undefined;
  return read => parseOr422(schema(), read ? read.json : absent, 'The body does not match the schema.', bodyErrors);
}

function refuseBody(read: ReadBody | undefined): void {
  const sent = read?.json;
  const isEmpty = sent === undefined || (typeof sent === 'object' && sent !== null && Object.keys(sent).length === 0);
  if (!isEmpty)
    throw new Problem('validation-failed', 'This endpoint does not accept a body.', {
      errors: [
        { pointer: '', code: 'unknown-field', detail: 'Must be omitted: this endpoint does not accept a body.' },
      ],
    });
}

function parseOr422(
  schema: z.ZodType,
  sent: unknown,
  detail: string,
  toErrors: (faults: Fault[]) => ProblemError[],
): unknown {
  const parsed = parseInput(schema, sent);
  if (!parsed.success) throw new Problem('validation-failed', detail, { errors: toErrors(parsed.faults) });
  return parsed.data;
}

/** Returns the reply of a list as JSON. A hundred questions can be megabytes, so other requests have their turn meanwhile. */
async function serializeInTurns(result: unknown): Promise<unknown> {
  const parts = isReply(result) ? result : { body: result };
  const { data, ...others } = (parts.body ?? {}) as { data?: unknown };
  if (!Array.isArray(data) || data.length < 2) return result;
  const turns = createTurns();
  const items: string[] = [];
  for (const item of data) {
    items.push(JSON.stringify(item));
    await turns();
  }
  const rest = JSON.stringify(others).slice(1);
  return reply({ ...parts, body: `{"data":[${items.join(',')}]${rest === '}' ? '' : ','}${rest}` });
}

function send(ctx: Context, operation: Operation, result: unknown): void {
  const { status, headers, body } = isReply(result) ? result : { status: undefined, headers: undefined, body: result };
  ctx.status = status ?? operation.status;
  if (headers) ctx.set(headers);
  const isRevalidated = operation.etag === true && operation.method === 'get';
  if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', isRevalidated ? REVALIDATE : 'no-store');
  if (operation.response === undefined) {
    ctx.body = ctx.status === 204 ? null : ''; // null would turn a redirection into a 204
    return;
  }
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  if (!ctx.response.get('Content-Type')) ctx.set('Content-Type', JSON_TYPE);
  if (operation.etag) {
    const etag = ctx.response.get('ETag') || versionTagOf(body);
    ctx.set('ETag', etag);
    if (isRevalidated && matchesNone(ctx.req.headers['if-none-match'], etag)) {
      ctx.status = 304;
      ctx.remove('Content-Encoding'); // a 304 has no content
      return;
    }
  }
  ctx.body = text;
}
