import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDocument } from '../support/openapi.ts';
import { BUILT, DOCUMENT, HERE, installLinters, outcomeOf } from './installed.ts';

const programs = await installLinters();

/** Runs a program of Node with the version that runs the tests. */
const node = (name: string, args: string[]) => outcomeOf(process.execPath, [join(programs, name), ...args]);

const LINTERS: [name: string, lint: (document: string) => ReturnType<typeof node>][] = [
  ['Redocly CLI', document => node('redocly', ['lint', document, '--config', join(HERE, 'redocly.yaml')])],
  [
    'Spectral',
    document =>
      node('spectral', ['lint', document, '--ruleset', join(HERE, 'spectral.yaml'), '--fail-severity', 'hint']),
  ],
];

/** Writes a copy of the document, changed by hand. */
async function changedDocument(change: (document: Document) => void): Promise<string> {
  const document = (await readDocument()) as unknown as Document;
  change(document);
  await mkdir(BUILT, { recursive: true });
  const path = join(BUILT, 'faulty.json');
  await writeFile(path, JSON.stringify(document));
  return path;
}
interface Document {
  paths: Record<
    string,
    Record<string, Record<string, unknown> & { responses: Record<string, unknown>; parameters?: unknown[] }>
  >;
  components: { schemas: Record<string, unknown> };
}

/** Faults that the rules must find. */
function spoil({ paths, components }: Document): void {
  const { get } = paths['/v1/questions'] ?? {};
  Object.assign(get ?? {}, { description: undefined, operationId: 'Questions_list', tags: ['Unknown'] });
  Object.assign(get?.responses ?? {}, {
    200: { $ref: '#/components/responses/Absent' },
    418: { description: 'A teapot', content: { 'application/json': { schema: { type: 'string' } } } },
  });
  get?.parameters?.push({ name: 'camelCase', in: 'query', schema: { type: 'string' } });
  Object.assign(components.schemas, {
    bad_name: { type: 'object', properties: { camelCase: { type: 'string' } } },
    EmptyPage: { type: 'object', properties: {} },
  });
}

const OWN_RULES = 'operation-id snake-case-members snake-case-parameters component-names problems body-examples pages';
const FOUND: Record<string, string[]> = {
  'Redocly CLI': ['operation-description', 'no-unresolved-refs', 'no-unused-components', 'parameter-description'],
  Spectral: ['operation-description', 'invalid-ref', ...OWN_RULES.split(' ').map(rule => `parley-${rule}`)],
};

describe.each(LINTERS)('%s', (name, lint) => {
  test('finds no fault in the document', async () => {
    const { code, output } = await lint(DOCUMENT);
    expect(code, output).toBe(0);
  });

  test('finds the faults of a document that has some', async () => {
    const { code, output } = await lint(await changedDocument(spoil));
    expect(code).not.toBe(0);
    for (const rule of FOUND[name] as string[]) expect(output).toContain(rule);
  });
});
