import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { readDocument } from '../support/openapi.ts';
import { isChosen, type Language } from './generators.ts';
import { readGuide, type Section, writeFiles } from './guide.ts';
import { BUILT, prepareToolchains, runShell, type Toolchains } from './toolchains.ts';

const toolchains = await prepareToolchains();
const guide = await readGuide();

/** The sections of the guide, with the toolchains that they need. */
const SECTIONS: [heading: string, language: Language, needs: (keyof Toolchains)[]][] = [
  ['Go', 'go', ['go']],
  ['Java', 'java', ['java', 'maven']],
  ['Kotlin', 'kotlin', ['java', 'maven']],
  ['Rust', 'rust', ['java', 'rust']],
  ['C#', 'csharp', ['java', 'dotnet']],
];

describe('the guide for other languages', () => {
  let api: TestApi;
  let tenant: TestTenant;
  beforeAll(async () => {
    api = await createApi();
    tenant = await makeTenant(api);
    const show_if = { step: 'main', op: 'lte', value: 6 };
    await publishQuestion(api, tenant, {
      frequency: { repeat: 'always', ignore_cooldown: true },
      follow_ups: [{ key: 'reason', type: 'text', title: 'Why?', show_if }],
    });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  test('has no section without a test', () => {
    expect([...guide.keys()]).toEqual(SECTIONS.map(([heading]) => heading));
  });

  test('names the unions with a list for Java and C#', async () => {
    interface Union {
      anyOf?: { type?: string }[];
      oneOf?: { type?: string }[];
    }
    const { components } = (await readDocument()) as unknown as { components: { schemas: Record<string, Union> } };
    const unions = Object.entries(components.schemas).filter(([, { anyOf = [], oneOf = [] }]) =>
      [...anyOf, ...oneOf].some(({ type }) => type === 'array'),
    );
    const mappings = unions.map(([name]) => `${name}=Object`).toSorted();
    for (const heading of ['Java', 'C#'])
      expect(guide.get(heading)?.generate).toContain(`--schema-mappings ${mappings.join(',')}`);
  });

  for (const [heading, language, needs] of SECTIONS)
    test.runIf(isChosen(language) && needs.every(toolchain => toolchains[toolchain]))(
      `has commands and a program for ${heading} that send an answer`,
      async () => {
        const section = guide.get(heading) as Section;
        const folder = join(BUILT, 'guide', language);
        await writeFiles(section, folder);
        const { stdout } = await runShell(section.commands, folder, {
          BASE_URL: api.baseUrl,
          TENANT_ID: tenant.id,
          KEY_ID: tenant.key.id,
          KEY_SECRET: tenant.key.secret,
        });
        expect(stdout).toContain('How likely?: accepted');
      },
    );
});
