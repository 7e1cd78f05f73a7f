import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { readDocument } from '../support/openapi.ts';
import { CSHARP_MAPPINGS, isChosen, type Language, LISTS_AS_OBJECTS, UNIONS_WITH_LISTS } from './generators.ts';
import { readGuide } from './guide.ts';
import { BUILT, JAR, prepareToolchains, run, type Toolchains } from './toolchains.ts';

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
    const command = join(BUILT, 'bin/openapi-generator-cli');
    await mkdir(dirname(command), { recursive: true });
    await writeFile(command, `#!/bin/sh\nexec java -Xmx1g -jar '${JAR}' "$@"\n`);
    await chmod(command, 0o755);
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
    expect(unions.map(([name]) => name).toSorted()).toEqual(UNIONS_WITH_LISTS);
    const words = (heading: string) => guide.get(heading)?.commands.split(/\s+/);
    expect(words('Java')).toContain(LISTS_AS_OBJECTS);
    expect(words('C#')).toContain(CSHARP_MAPPINGS);
  });

  for (const [heading, language, needs] of SECTIONS)
    test.runIf(isChosen(language) && needs.every(toolchain => toolchains[toolchain]))(
      `has commands and a program for ${heading} that send an answer`,
      async () => {
        const { commands, files } = guide.get(heading) as NonNullable<ReturnType<typeof guide.get>>;
        const folder = join(BUILT, 'guide', language);
        await rm(folder, { recursive: true, force: true });
        for (const [path, text] of Object.entries(files)) {
          await mkdir(dirname(join(folder, path)), { recursive: true });
          await writeFile(join(folder, path), text);
        }
        const { stdout } = await run('bash', ['-e', '-c', commands], folder, {
          PATH: `${join(BUILT, 'bin')}:${process.env.PATH}`,
          BASE_URL: api.baseUrl,
          TENANT_ID: tenant.id,
          KEY_ID: tenant.key.id,
          KEY_SECRET: tenant.key.secret,
        });
        expect(stdout).toContain('How likely?: accepted');
      },
    );
});
