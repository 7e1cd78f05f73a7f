import { type ChildProcess, execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { ROOT } from '../support/documents.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { freePort } from '../support/process.ts';
import { makeVenv } from '../support/python.ts';
import { openScenario, type Runner } from './scenario.ts';

const SOURCE = join(ROOT, 'clients/python');
const VENV = join(SOURCE, '.venv');
const LIMIT_MS = 240_000;
const INSTALL_LIMIT_MS = 600_000;

const exec = promisify(execFile);
/** Runs a program to its end and returns its standard output; rejects with all output. */
async function run(
  command: string,
  args: string[],
  cwd = SOURCE,
  environment: Record<string, string> = {},
): Promise<string> {
  const env = { ...process.env, ...environment };
  const ended = exec(command, args, { cwd, env, timeout: LIMIT_MS });
  const { stdout } = await ended.catch(error => {
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  });
  return stdout;
}
const inVenv = (name: string): string => join(VENV, 'bin', name);
const pip = (...args: string[]) =>
  run(inVenv('python'), ['-m', 'pip', '--disable-pip-version-check', '--quiet', ...args]);

/** Whether there is a recent Python with pip and access to a registry. */
async function isFound(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-python-'));
  try {
    await run('python3', ['-c', 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10), sys.version']);
    await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, 'flit_core']);
    return true;
  } catch (error) {
    if (process.env.TESTS_REQUIRE?.split(',').includes('python')) throw error;
    process.stderr.write(
      '\n*** No Python ≥ 3.10 with venv, pip and a registry: the tests of its client are SKIPPED. ***\n\n',
    );
    return false;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const REQUIREMENTS = ['requirements-dev.txt', 'examples/requirements.txt'].map(file => join(SOURCE, file));
const PROJECT = { folder: SOURCE, extras: 'signing' };

/** The oldest supported version. */
const OLDEST = '3.10';

/** Returns the program of the oldest supported Python: on the path, or in the folder of pyenv. */
async function findOldest(): Promise<string | undefined> {
  const inPyenv = run('pyenv', ['prefix', OLDEST]).then(folder => [join(folder.trim(), 'bin/python3')]);
  for (const program of [`python${OLDEST}`, ...(await inPyenv.catch(() => []))])
    if ((await run(program, ['-c', 'import ensurepip, venv']).catch(() => undefined)) !== undefined) return program;
  process.stderr.write(`\n*** No Python ${OLDEST}: the Python client is not run with its oldest version. ***\n\n`);
  return undefined;
}

const hasPython = await isFound();
const oldest = hasPython ? await findOldest() : undefined;

describe.runIf(hasPython)('the Python client', () => {
  beforeAll(() => makeVenv(VENV, REQUIREMENTS, { project: PROJECT }), INSTALL_LIMIT_MS);

  describe('without a server', () => {
    test.each([
      ['passes the cases of the contract', 'pytest', []],
      ['is typed strictly', 'mypy', []],
      ['is typed strictly for pyright too', 'pyright', []],
      ['has nothing for the linter', 'ruff', ['check']],
      ['is formatted', 'ruff', ['format', '--check']],
    ])(
      '%s',
      async (_, tool, args) => {
        await expect(run(inVenv(tool), args), tool).resolves.toBeTypeOf('string');
      },
      LIMIT_MS,
    );

    test.runIf(oldest)(
      `passes the cases of the contract with Python ${OLDEST}`,
      async () => {
        const folder = join(SOURCE, `.venv-${OLDEST}`);
        const programs = await makeVenv(folder, REQUIREMENTS[0] as string, { python: oldest, project: PROJECT });
        expect(await run(join(programs, 'python'), ['--version'])).toContain(`Python ${OLDEST}.`);
        await expect(run(join(programs, 'pytest'), ['-p', 'no:cacheprovider'])).resolves.toBeTypeOf('string');
      },
      LIMIT_MS,
    );
  });

  describe('in the scenario', () => {
    const runner = (env: Record<string, string> = {}): Runner => ({
      command: inVenv('python'),
      args: [join(SOURCE, 'tests/runner.py')],
      env,
    });
    let scenario: Awaited<ReturnType<typeof openScenario>>;
    beforeAll(async () => {
      scenario = await openScenario();
    });
    afterAll(() => scenario?.[Symbol.asyncDispose]());

    test.each(['sync', 'async'])('the part server, by the %s client', async kind => {
      await using fresh = await openScenario(); // the part counts all answers, so each client has its own tenant
      await fresh.play(runner({ PARLEY_PYTHON_CLIENT: kind }), 'server');
    });

    test(
      'the part server-deliver, its replies lost and itself killed',
      () => scenario.deliver(runner(), 'server-deliver'),
      LIMIT_MS,
    );

    test('unsupported and unknown parts', async () => {
      expect(await scenario.exitCodeFor(runner(), 'app')).toBe(3);
      expect(await scenario.exitCodeFor(runner(), 'nothing')).toBe(2);
    });
  });

  describe('installed into an empty environment', () => {
    let folder: string;
    let api: TestApi;
    let tenant: TestTenant;
    let env: Record<string, string>;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'parley-python-'));
      await pip('wheel', '--no-deps', '--wheel-dir', folder, SOURCE);
      await run('python3', ['-m', 'venv', '--without-pip', join(folder, 'venv')]);
      api = await createApi();
      tenant = await makeTenant(api);
      env = {
        SERVICE_BASE_URL: api.baseUrl,
        SERVICE_API_KEY: tenant.key.apiKey,
        SERVICE_API_KEY_ID: tenant.key.id,
        SERVICE_API_KEY_SECRET: tenant.key.secret,
        SERVICE_TENANT_ID: tenant.id,
      };
    }, LIMIT_MS);
    afterAll(async () => {
      await api?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    test(
      'the quick start works to the letter',
      async () => {
        const wheel = readdirSync(folder).find(file => file.endsWith('.whl')) ?? '';
        await pip('--python', join(folder, 'venv'), 'install', `${join(folder, wheel)}[signing]`);
        const readme = readFileSync(join(SOURCE, 'README.md'), 'utf8');
        const [, code = ''] = /## Quick start.*?```python\n(.*?)```/s.exec(readme) ?? [];
        await writeFile(join(folder, 'quick_start.py'), code);
        const printed = await run(join(folder, 'venv/bin/python'), ['-W', 'error', 'quick_start.py'], folder, env);
        expect(printed.trim().split('\n')).toEqual([
          'the token is valid: True',
          'the answer is accepted',
          'message 1 Thank you! What made it a 9?',
          'rejected: conflict invalid-transition',
        ]);
        const path = [
          '-c',
          'import parley_feedback as it, pathlib; print(pathlib.Path(it.__file__).with_name("py.typed").exists(), it.__file__)',
        ];
        expect(await run(join(folder, 'venv/bin/python'), path, folder)).toMatch(`True ${join(folder, 'venv')}`);
      },
      LIMIT_MS,
    );

    test('both ways to sign tokens in the guide produce valid ones', async () => {
      const guide = readFileSync(join(ROOT, 'docs/guides/sign-tokens.md'), 'utf8');
      const blocks = [...guide.matchAll(/```python\n(.*?)```/gs)].map(([, code]) => code);
      expect(blocks).toHaveLength(2);
      for (const code of blocks) {
        const program = `from types import SimpleNamespace\nuser = SimpleNamespace(id=42)\n${code}\nprint(access_token)`;
        const token = await run(inVenv('python'), ['-c', program], folder, env);
        const me = await api.request('GET', '/v1/me', { as: token.trim() });
        expect(me.body).toMatchObject({ identity: 'user|42', identity_verified: true });
      }
    });

    test.each([
      ['FastAPI', ['uvicorn', 'fastapi_backend:app', '--port']],
      ['Flask', ['flask', '--app', 'flask_backend', 'run', '--port']],
      ['Django', ['django_backend.py', 'runserver', '--noreload']],
    ])('the example for %s issues tokens to its users', async (_, [program = '', ...args]) => {
      const port = String(await freePort());
      const words = program.endsWith('.py') ? [program] : ['-m', program];
      const child: ChildProcess = execFile(inVenv('python'), [...words, ...args, port], {
        cwd: join(SOURCE, 'examples'),
        env: { PATH: process.env.PATH, ...env, SESSIONS: 'abc=42' },
      });
      try {
        const ask = (method: string, headers: Record<string, string> = {}) =>
          fetch(`http://127.0.0.1:${port}/v1/svc/auth/token`, { method, headers });
        const reply = await waitFor(() => ask('POST', { Authorization: 'Bearer abc' }).catch(() => undefined));
        expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
        const { access_token } = (await reply.json()) as { access_token: string };
        const me = await api.request('GET', '/v1/me', { as: access_token });
        expect(me.body).toMatchObject({ identity: 'user|42', identity_verified: true });
        const refused = [await ask('POST'), await ask('POST', { Authorization: 'Bearer x' }), await ask('GET')];
        expect(refused.map(({ status }) => status)).toEqual([401, 401, 405]);
      } finally {
        child.kill();
        await new Promise(resolve => (child.exitCode === null ? child.once('exit', resolve) : resolve(null)));
      }
    });
  });
});
