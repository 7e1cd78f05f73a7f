import type Koa from 'koa';
import type { Context, Next } from 'koa';

type HeaderValue = string | string[];

/** The headers of one response by their names in lower case, each with its name as it is sent. */
type HeaderList = Map<string, [name: string, value: HeaderValue]>;

/** What holds them: Koa's response, which lives as long as the request. */
interface Holder {
  headerSent: boolean;
  list?: HeaderList;
}

/** Names in lower case, each made once: the names of the headers that this service sends. */
const lowerCase = new Map<string, string>();

function lower(name: string): string {
  const known = lowerCase.get(name);
  if (known) return known;
  lowerCase.set(name, name.toLowerCase());
  return name.toLowerCase();
}

const listOf = (holder: Holder): HeaderList => {
  holder.list ??= new Map();
  return holder.list;
};

/**
 * Makes an application keep response headers in a list and hand them to Node all at once.
 *
 * Koa hands each to Node as it is set, which checks and files it, and files all again when the head is written. With the
 * 17 headers of a reply that cost as much as the rest of Koa (docs/performance.md). Node checks the list when it is
 * written. Everything else of Koa works as before, because it sets headers through these methods alone.
 */
export function holdHeaders(app: Koa): void {
  Object.assign(app.response, {
    set(this: Holder, field: string | Record<string, HeaderValue>, value?: HeaderValue) {
      if (this.headerSent || !field) return;
      if (typeof field === 'string') listOf(this).set(lower(field), [field, value as HeaderValue]);
      else for (const name of Object.keys(field)) listOf(this).set(lower(name), [name, field[name] as HeaderValue]);
    },
    get(this: Holder, field: string) {
      return this.list?.get(lower(field))?.[1] ?? '';
    },
    has(this: Holder, field: string) {
      return this.list?.has(lower(field)) ?? false;
    },
    remove(this: Holder, field: string) {
      this.list?.delete(lower(field));
    },
  });
  app.use(writeHead);
}

/** Writes the head when everything below has spoken; Koa then sends the body. */
async function writeHead(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.status === 204 || ctx.status === 304) ctx.body = null; // takes the headers of a body off
  const flat: HeaderValue[] = [];
  for (const [name, value] of listOf(ctx.response as unknown as Holder).values()) flat.push(name, value);
  ctx.res.writeHead(ctx.status, flat as string[]);
}
