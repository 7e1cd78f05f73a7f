import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDocument } from '../../support/openapi.ts';
import { BUILT, DOCUMENT, HERE, installOasdiff } from '../installed.ts';
import { BREAKS, type Document } from './breaks.ts';
import { breakingChanges } from './compare.ts';

const oasdiff = (await installOasdiff()) ?? '';
const BASELINE = join(HERE, 'changes/baseline.json');

/** Compares the released document with a copy of it that is changed by hand. */
async function breaksOf(change: (document: Document) => void, name: string, accepted?: string): Promise<string> {
  const document = (await readDocument(BASELINE)) as unknown as Document;
  change(document);
  const path = join(BUILT, `${name}.json`);
  await writeFile(path, JSON.stringify(document));
  return breakingChanges(oasdiff, BASELINE, path, accepted);
}

describe.runIf(oasdiff)('compared with the released document', () => {
  test('docs/openapi.json has only additions', async () => {
    expect(await breakingChanges(oasdiff, BASELINE, DOCUMENT)).toBe('');
  });

  test('additions of every kind pass', async () => {
    const added = await breaksOf(({ paths, components }) => {
      const { Question, ConversationInput, AnswerInput } = components.schemas;
      Object.assign(Question?.properties ?? {}, { added: { type: 'string' } });
      Question?.properties?.status?.['x-extensible-enum']?.push('snoozed');
      Object.assign(ConversationInput?.properties ?? {}, { added: { type: 'string' } });
      AnswerInput?.properties?.state?.enum?.push('added');
      const read = structuredClone(paths['/v1/me']?.get);
      paths['/v1/added'] = { get: { ...read, operationId: 'readAdded' } as never };
      paths['/v1/questions']?.get?.parameters.push({ name: 'added', in: 'query', schema: { type: 'string' } });
      Object.assign(components.responses.NotFound?.headers ?? {}, { 'X-Added': { schema: { type: 'string' } } });
    }, 'additions');
    expect(added).toBe('');
  });

  test.each(BREAKS)('a document that %s fails', async (name, change, reported) => {
    expect(await breaksOf(change, name.replaceAll(/\W+/g, '-'))).toMatch(reported);
  });

  test('an accepted change passes, and no other', async () => {
    const accepted = join(BUILT, 'accepted.txt');
    await writeFile(
      accepted,
      'GET /v1/questions api operation id `listQuestions` removed and replaced with `getQuestions`\n',
    );
    const rename = ({ paths }: Document) =>
      Object.assign(paths['/v1/questions']?.get ?? {}, { operationId: 'getQuestions' });
    expect(await breaksOf(rename, 'accepted', accepted)).toBe('');
    const second = (document: Document) => {
      rename(document);
      Object.assign(document.paths['/v1/me']?.get ?? {}, { operationId: 'getMe' });
    };
    expect(await breaksOf(second, 'accepted-and-another', accepted)).toMatch(/getMe/);
  });
});
