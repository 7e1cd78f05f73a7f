import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REQUEST_HEADERS } from '../src/api/openapi/headers.ts';
import { filesUnder, SRC } from './support/modules.ts';
import { readDocument } from './support/openapi.ts';

/** Request headers that the service reads and the document does not declare as parameters, with the reason. */
const UNDECLARED: Record<string, string> = {
  authorization: 'a security scheme',
  cookie: 'a security scheme',
  'content-type': 'the media type of the body',
  'content-length': 'set by every HTTP client',
  'transfer-encoding': 'set by every HTTP client',
  'content-encoding': 'refused; bodies are not compressed',
  host: 'set by every HTTP client',
  'user-agent': 'set by every HTTP client',
  accept: 'set by browsers for pages',
  'accept-language': 'set by browsers and HTTP clients; apps name the language in `locale`',
  origin: 'set by browsers',
  'access-control-request-method': 'set by browsers in a preflight',
  'sec-fetch-site': 'set by browsers',
  'x-forwarded-for': 'set by proxies',
};

const READS = [
  /headers\??\.?\[?\['([a-z-]+)'\]/g,
  /\bheaders\.(?!ts\b)([a-z]+)\b(?!\()/g,
  /\bheader\('([a-z-]+)'\)/g,
  /\bctx\s*\.get\('([A-Za-z-]+)'\)/g,
  /'([a-z-]+)': \w+ ?(?:,[^}]*)?\} = (?:ctx\.req\.headers|conditions)/g,
  /, '([a-z-]+)': \w+ \} = (?:ctx\.req\.headers|conditions)/g,
  /\bcountHeader\([\w.]+, '([a-z-]+)'\)/g,
];

/** The names of request headers in a source, in lower case. */
const headersReadIn = (source: string): string[] =>
  READS.flatMap(pattern => [...source.matchAll(pattern)].map(match => (match[1] as string).toLowerCase()));

/** Sources with other objects named `headers`, or headers of replies. */
const LEFT_OUT = ['api/openapi/', 'api/openapi.ts'];

const read = new Set(
  filesUnder(SRC)
    .filter(path => path.startsWith('api/') && !LEFT_OUT.some(folder => path.startsWith(folder)))
    .flatMap(path => headersReadIn(readFileSync(join(SRC, path), 'utf8'))),
);

describe('request headers', () => {
  const declared = Object.keys(REQUEST_HEADERS).map(name => name.toLowerCase());

  test('are declared if the service reads them, and read if they are declared', () => {
    expect([...read].sort()).toEqual([...declared, ...Object.keys(UNDECLARED)].sort());
  });

  test('in the document are exactly the declared ones', async () => {
    const { parameters } = (await readDocument()).components as { parameters: Record<string, { name: string }> };
    expect(Object.values(parameters).map(({ name }) => name.toLowerCase())).toEqual(declared);
  });

  test('are found in each form in which code reads them', () => {
    const source = `request.headers['x-a']; headers.origin; header('x-b'); ctx.get('X-C'); countHeader(req, 'x-d');
      const { 'x-e': e, 'x-f': f } = ctx.req.headers`;
    expect(headersReadIn(source).sort()).toEqual(['origin', 'x-a', 'x-b', 'x-c', 'x-d', 'x-e', 'x-f']);
  });
});
