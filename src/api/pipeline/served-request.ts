import type { Context } from 'koa';
import { type Caller, viewOf } from '../caller.ts';
import { readCookie } from '../credentials/cookies.ts';
import type { ApiDeps } from '../deps.ts';
import { clientIp } from '../http/client-ip.ts';
import type { Cursors } from '../http/cursors.ts';
import { requireMatch, requireParts, versionTagOf } from '../http/etag.ts';
import { isReply, type Operation, type OperationReply, type OperationRequest, reply } from '../operation.ts';
import { limitIssue } from './limit.ts';

type AnyRequest = OperationRequest<never, never, never, never>;

/** A request as its operation sees it, filled in step by step. Handlers destructure it, so its functions are bound. */
export class ServedRequest implements AnyRequest {
  caller = undefined as never;
  params = undefined as never;
  query = undefined as never;
  body = undefined as never;
  bodyBytes = 0;
  /** The body as JSON, before validation. */
  sent: unknown = undefined;
  after: string[] | null = null;
  readonly requestId: string;
  readonly receivedAt: Date;
  /** The entity tag of the resource before the operation; undefined if the operation has not compared it. */
  #tagBefore: string | null | undefined = undefined;
  readonly #ctx: Context;
  readonly #operation: Operation;
  readonly #cursors: Cursors;
  readonly #deps: ApiDeps;

  constructor(ctx: Context, operation: Operation, cursors: Cursors, deps: ApiDeps) {
    this.requestId = ctx.state.requestId;
    this.receivedAt = deps.now();
    this.#ctx = ctx;
    this.#operation = operation;
    this.#cursors = cursors;
    this.#deps = deps;
  }

  /** The id in the path; the last one of several. */
  get pathId(): string | undefined {
    const { message_id, identity, id } = this.#ctx.params ?? {};
    return message_id ?? identity ?? id;
  }

  readonly header: AnyRequest['header'] = name => this.#ctx.req.headers[name] as string | undefined;

  readonly cookie: AnyRequest['cookie'] = name => readCookie(this.#ctx.req, name, this.#deps.config);

  readonly acceptsGzip: AnyRequest['acceptsGzip'] = () => this.#ctx.acceptsEncodings('gzip', 'identity') === 'gzip';

  readonly clientIp: AnyRequest['clientIp'] = () => clientIp(this.#ctx, this.#deps.config.TRUSTED_PROXY_HOPS);

  readonly limitIssue: AnyRequest['limitIssue'] = (scope, key) => limitIssue(this.#ctx, this.#deps, scope, key);

  readonly requireMatch: AnyRequest['requireMatch'] = representation => {
    if (!this.#operation.ifMatch) throw new Error(`${this.#operation.id} checks If-Match without declaring it.`);
    this.#tagBefore = requireMatch(this.#ctx.req.headers, representation);
  };

  readonly requireTag: AnyRequest['requireTag'] = (etag, part) => {
    if (!this.#operation.ifMatch) throw new Error(`${this.#operation.id} checks If-Match without declaring it.`);
    this.#tagBefore = etag;
    requireParts(this.#ctx.req.headers, etag, part === 'settings' ? 1 : 2);
  };

  /** Whether the result is the version of the resource that the operation has found: then it has changed nothing. */
  isVersionBefore(result: unknown): boolean {
    if (!this.#tagBefore) return false;
    const { headers, body } = isReply(result) ? result : { headers: undefined, body: result };
    return (headers?.ETag ?? versionTagOf(body)) === this.#tagBefore;
  }

  readonly page: AnyRequest['page'] = ({ rows, next, searchedTo }, present) => {
    const cursor = next && this.#cursors.seal(this.#cursorContext(), next);
    const page = { data: rows.map(present), has_more: cursor !== null, next_cursor: cursor };
    return pageReply(this.#ctx, searchedTo ? { ...page, searched_to: searchedTo } : page, this.#deps.config.BASE_URL);
  };

  /** Sets the start of the page from the cursor, if any. Throws 400 for a cursor that was not made for this list. */
  openCursor(): void {
    const cursor = (this.query as { cursor?: string } | undefined)?.cursor;
    if (cursor !== undefined) this.after = this.#cursors.open(this.#cursorContext(), cursor);
  }

  /** The context that a cursor is bound to: the list, the caller's view, and every filter. */
  #cursorContext(): string[] {
    const { path, querystring } = this.#ctx;
    const filters = [...new URLSearchParams(querystring)].filter(([name]) => name !== 'cursor' && name !== 'limit');
    const caller = this.caller as Caller | undefined;
    return [this.#operation.id, path, ...(caller ? viewOf(caller) : []), JSON.stringify(filters.sort())];
  }
}

function pageReply(
  ctx: Context,
  body: { next_cursor: string | null; searched_to?: Date },
  baseUrl: string,
): OperationReply {
  const next = body.next_cursor;
  if (next === null) return reply({ body });
  const parameters = new URLSearchParams(ctx.querystring);
  parameters.set('cursor', next);
  return reply({ body, headers: { Link: `<${baseUrl}${ctx.path}?${parameters}>; rel="next"` } });
}
