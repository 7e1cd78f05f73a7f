import type Koa from 'koa';
import type { Context } from 'koa';

type HeaderValue = string | string[];

/** The headers of one response: their names in lower case, and in the same order each name and value as they are sent. */
interface HeaderList {
  keys: string[];
  flat: HeaderValue[];
}

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

function put({ keys, flat }: HeaderList, name: string, value: HeaderValue): void {
  const key = lower(name);
  const place = keys.indexOf(key);
  if (place < 0) {
    keys.push(key);
    flat.push(name, value);
  } else flat.splice(2 * place, 2, name, value);
}

/**
 * Makes an application keep response headers in a list and hand them to Node all at once.
 *
 * Koa hands each to Node as it is set, which checks and files it, and files all again when the head is written. With the
 * 17 headers of a reply that cost as much as the rest of Koa (docs/performance.md). Node checks the list when it is
 * written. Everything else of Koa works as before, because it sets headers through these methods alone.
 *
 * `ofEvery` are the headers that every response begins with, whatever becomes of it. Gives what writes the head of a
 * response, to be called when all have spoken and before the body is sent.
 */
export function holdHeaders(app: Koa, ofEvery: Record<string, string>): (ctx: Context) => void {
  const first: HeaderList = { keys: [], flat: [] };
  for (const [name, value] of Object.entries(ofEvery)) put(first, name, value);
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
  return ctx => {
    if (ctx.status === 204 || ctx.status === 304) ctx.body = null; // takes the headers of a body off
    const { flat } = listOf(ctx.response as unknown as Holder);
    ctx.res.writeHead(ctx.status, flat as string[]);
  };
}
