import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { etagOf } from '../http/etag.ts';

const FILE = new URL('../../../docs/openapi.json', import.meta.url);

/** The address in the file's `servers`. */
export const EXAMPLE_BASE_URL = 'http://localhost:3000';

/** The OpenAPI document of this build as JSON (half a megabyte), compressed too, and its entity tag. */
export interface OpenApiFile {
  json: Buffer;
  gzip: Buffer;
  etag: string;
}

/**
 * Returns a function that reads the document once, with the address of this installation. It is a file, which a test
 * compares with the schemas, because making it from them would hold up all other requests for a fifth of a second.
 */
export function createOpenApiFile(baseUrl: string): () => Promise<OpenApiFile> {
  let reading: Promise<OpenApiFile> | undefined;
  async function read(): Promise<OpenApiFile> {
    const servers = (url: string) => `"servers": ${JSON.stringify([{ url }])}`;
    const text = (await readFile(FILE, 'utf8')).replace(servers(EXAMPLE_BASE_URL), () => servers(baseUrl));
    const json = Buffer.from(text); // bytes shared by all replies
    return { json, gzip: await promisify(gzip)(json), etag: etagOf(text) };
  }
  return () => {
    reading ??= read().catch(error => {
      reading = undefined; // the next request tries again
      throw error;
    });
    return reading;
  };
}
