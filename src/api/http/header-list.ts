import type Koa from 'koa';
import type { Middleware } from 'koa';

type HeaderValue = string | string[];

/** The headers of one response: the names in lower case and, in the same order, each name and value as sent. */
interface HeaderList {
  keys: string[];
  flat: HeaderValue[];
}

/** Koa's response, which holds the list for the duration of the request. */
interface Holder {
  headerSent: boolean;
  list?: HeaderList;
}

/** The names of the headers that this service sends, with their lower-case form. */
const lowerCase = new Map<string, string>();

function lower(name: string): string {
  const known = lowerCase.get(name);
  if (known) return known;
  lowerCase.set(name, name.toLowerCase());
  return name.toLowerCase();
}

function put({ keys, flat }: HeaderList, name: string, value: HeaderValue): void {
  const key = lower(name);
  const place = keys.indexOf(key);
  if (place < 0) {
    keys.push(key);
    flat.push(name, value);
  } else flat.splice(2 * place, 2, name, value);
}

/**
 * Collects the headers of a response in a list and passes them to Node at once.
 *
 * Koa passes each header to Node as it is set, and Node validates and stores it twice. For the 17 headers of a reply
 * that costs as much as the rest of Koa (docs/performance.md). Replaces the methods of Koa's response that read and write
 * headers, which Koa itself uses too. Node validates the list when it is sent.
 *
 * `common` are the headers of every response. Register the returned middleware before all others that set headers.
 */
export function sendHeadersAtOnce(app: Koa, common: Record<string, string>): Middleware {
  const first: HeaderList = { keys: [], flat: [] };
  for (const [name, value] of Object.entries(common)) put(first, name, value);
  const listOf = (holder: Holder): HeaderList => {
    holder.list ??= { keys: first.keys.slice(), flat: first.flat.slice() };
    return holder.list;
  };

  Object.assign(app.response, {
    set(this: Holder, field: string | Record<string, HeaderValue>, value?: HeaderValue) {
      if (this.headerSent || !field) return;
      if (typeof field === 'string') put(listOf(this), field, value as HeaderValue);
      else for (const name of Object.keys(field)) put(listOf(this), name, field[name] as HeaderValue);
    },
    get(this: Holder, field: string) {
      const { keys, flat } = listOf(this);
      const place = keys.indexOf(lower(field));
      return place < 0 ? '' : flat[2 * place + 1];
    },
    has(this: Holder, field: string) {
      return listOf(this).keys.includes(lower(field));
    },
    remove(this: Holder, field: string) {
      const { keys, flat } = listOf(this);
      const place = keys.indexOf(lower(field));
      if (place < 0) return;
      keys.splice(place, 1);
      flat.splice(2 * place, 2);
    },
  });
  return async (ctx, next) => {
    await next();
    if (ctx.status === 204 || ctx.status === 304) ctx.body = null; // removes the headers of a body
    const { flat } = listOf(ctx.response as unknown as Holder);
    ctx.res.writeHead(ctx.status, flat as string[]);
  };
}
