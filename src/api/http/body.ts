import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import rawBody from 'raw-body';
import { type FormFault, findFormFault, MAX_PARTS } from '../../domain/json.ts';
import { Problem } from '../../domain/problem.ts';

export const MAX_BODY_BYTES = 256 * 1024;
export const MAX_PUBLIC_BODY_BYTES = 16 * 1024;
const MAX_DEPTH = 20;
/** How long the rest of a refused body is discarded, so that the sender can read the reply. */
const DISCARD_MS = 5000;

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** A body as bytes and as JSON. */
export interface ReadBody {
  bytes: Buffer;
  json: unknown;
}

/** Whether a request announces a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Reads an announced body as JSON in UTF-8, of at most `limit` bytes. Returns `undefined` for an empty one. */
export async function readBody(ctx: Context, limit: number): Promise<ReadBody | undefined> {
  const { 'content-length': length, 'content-encoding': encoding } = ctx.req.headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported-media-type', 'The body must not be compressed.');
  const bytes = takeArrived(ctx.req, limit) ?? (await readBytes(ctx, limit, length));
  if (bytes.length === 0) return undefined;
  if (!JSON_TYPE.test(ctx.req.headers['content-type'] ?? ''))
    throw new Problem('unsupported-media-type', 'Send Content-Type: application/json (in UTF-8).');
  return { bytes, json: parse(bytes) };
}

const brokenOff = (cause?: unknown) =>
  new Problem('malformed-request', 'The body is truncated or does not match its Content-Length.', { cause });

const tooLarge = (limit: number) => new Problem('body-too-large', `The body is larger than ${limit} bytes.`);

/** Returns a body that has arrived completely, as most have when their request starts: no events are needed. */
function takeArrived(request: IncomingMessage, limit: number): Buffer | undefined {
  if (!request.complete) return undefined;
  if (request.destroyed) throw brokenOff(); // the sender has disconnected, and received bytes may be lost
  const bytes = (request.read() as Buffer | null) ?? Buffer.alloc(0);
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

async function readBytes(ctx: Context, limit: number, length: string | undefined): Promise<Buffer> {
  try {
    return await rawBody(ctx.req, { limit, ...(length === undefined ? {} : { length }) });
  } catch (cause) {
    const { type } = cause as { type?: string };
    if (type === 'entity.too.large') throw tooLarge(limit);
    throw brokenOff(cause);
  }
}

const hasUnreadBody = (request: IncomingMessage): boolean =>
  !request.complete &&
  (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0);

/** Whether Node discards the rest of a body itself: small, on a connection that stays open. A tenth of the cost. */
const isDiscardedByNode = ({ req, res }: Context): boolean =>
  res.shouldKeepAlive && Number(req.headers['content-length']) <= MAX_BODY_BYTES;

/** Resolves when the sender has sent the rest or disconnected. After 5 s the connection is closed. */
function discardBody(request: IncomingMessage): Promise<void> {
  request.resume();
  return new Promise(resolve => {
    const timer = setTimeout(() => request.destroy(), DISCARD_MS);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once('end', finish).once('close', finish).once('error', finish);
  });
}

/**
 * Sends a reply at once, even if the request's body was not read. The connection ends only after the body.
 *
 * If it were closed earlier, the kernel would reset the connection of a sender that is still writing and drop the
 * reply.
 */
export function replyToUnread(ctx: Context, text: string): void {
  if (!hasUnreadBody(ctx.req) || isDiscardedByNode(ctx)) {
    ctx.body = text;
    return;
  }
  const sentBody = discardBody(ctx.req);
  async function* untilRequestEnds() {
    yield text;
    await sentBody;
  }
  const { type } = ctx;
  ctx.body = Readable.from(untilRequestEnds(), { objectMode: false });
  ctx.type = type;
  ctx.length = Buffer.byteLength(text);
}

/** The place of a syntax error. The rest of V8's message is left out, since it quotes the body. */
const placeIn = ({ message }: Error): string => {
  const at = /at position (\d+)/.exec(message)?.[1];
  return at === undefined ? '' : `: the first error is at character ${Number(at) + 1}`;
};

/** Of two members with one name, parsers disagree which one counts: a proxy may have checked the other one. */
function refuseForm(fault: FormFault): never {
  if (fault === 'too-deep')
    throw new Problem('malformed-json', `The body is nested more than ${MAX_DEPTH} levels deep.`);
  if (fault === 'too-many')
    throw new Problem(
      'malformed-json',
      `The body has more than ${MAX_PARTS.toLocaleString('en')} members, or objects and arrays in arrays.`,
    );
  throw new Problem('malformed-json', 'An object in the body has two members with the same name.', {
    errors: [{ pointer: fault.repeated, code: 'repeated-field', detail: 'Must appear only once in its object.' }],
  });
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Problem('malformed-json', 'The body is not valid JSON in UTF-8.');
  const text = bytes.toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new Problem('malformed-json', `The body is not valid JSON in UTF-8${placeIn(cause as Error)}.`, { cause });
  }
  const fault = findFormFault(text, json, MAX_DEPTH);
  if (fault) refuseForm(fault);
  return json;
}
