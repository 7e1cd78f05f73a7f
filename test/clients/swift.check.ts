import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visibleSteps } from '../../src/domain/steps.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { ROOT } from '../support/documents.ts';
import { makeTenant, publishQuestion } from '../support/make.ts';
import { steps, values } from '../support/steps.ts';
import { openScenario, type Runner } from './scenario.ts';
import { createTenantBackend } from './tenant-backend.ts';

const IMAGE = 'swift:6';
/** A build lasts minutes on a small machine; earlier results are kept in the package's `.build`. */
const COMPILING_MS = 1_800_000;
const BUILT = join(ROOT, 'clients/swift/.build');
/** The runner with all linked libraries, so that it runs outside the image and can be killed. */
const RUNNER = join(BUILT, 'runner');

const exec = promisify(execFile);

async function isFound(): Promise<boolean> {
  try {
    await exec('docker', ['image', 'inspect', IMAGE]);
    return true;
  } catch {
    // The image is optional: a Mac has its own Swift, and CI may not have the image.
    process.stderr.write(`\n*** No image ${IMAGE}: the Swift client is NOT BUILT AND NOT TESTED here. ***\n\n`);
    return false;
  }
}

/** Runs a script in a folder of the image and returns its output. */
async function runInImage(script: string, folder: string, mounts: string[]): Promise<string> {
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const volumes = mounts.flatMap(mount => ['--volume', mount]);
  const container = ['run', '--rm', '--network', 'host', '--user', user, '--env', 'HOME=/tmp', ...volumes];
  const options = { timeout: COMPILING_MS, maxBuffer: 2 ** 26 };
  try {
    const { stdout } = await exec('docker', [...container, '--workdir', folder, IMAGE, 'sh', '-euc', script], options);
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${script}\n${stdout}\n${stderr}`, { cause: error });
  }
}

const inPackage = (script: string) => runInImage(script, '/clients/swift', [`${join(ROOT, 'clients')}:/clients`]);

const COLLECT = `
rm -rf .build/runner && mkdir .build/runner
binary=$(swift build --show-bin-path)/ScenarioRunner
ldd "$binary" | grep -o '/[^ ]*' | xargs -I{} cp -L {} .build/runner/
cp "$binary" .build/runner/`;

/** The command of the runner: the loader of the image in which it was linked. */
async function findRunner(): Promise<Runner> {
  const loader = (await readdir(RUNNER)).find(name => name.startsWith('ld-linux'));
  return {
    command: join(RUNNER, loader ?? 'no loader'),
    args: ['--library-path', RUNNER, join(RUNNER, 'ScenarioRunner')],
  };
}

/** The first example of a section of the package's README. */
async function readExample(section: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'clients/swift/README.md'), 'utf8');
  const part = readme.split(/^## /m).find(each => each.startsWith(`${section}\n`)) ?? '';
  return /^```swift\n(.*?)^```$/ms.exec(part)?.[1] ?? '';
}

/** The parts of an app that the examples use. */
const APP = `import Foundation
import SwiftUI
import UIKit
import Parley

struct Login: CustomStringConvertible {
  let token = ""
  let description = ""
}
enum Input {
  case value(AnswerValue?), back, later
}
let session = Login()
func askForReview() {}
func show(_: Any) {}
func log(_: any Error) {}
func ask(_: CardStep) async -> AnswerValue? { nil }
func ask(_: CardStep, _: StepProgress) async -> Input { .later }
`;

/** A file with all Swift examples of the documents, each as the body of a function. */
async function writeExamples(): Promise<string> {
  const documents = ['clients/swift/README.md', 'docs/guides/cards-in-your-app.md'];
  const texts = await Promise.all(documents.map(each => readFile(join(ROOT, each), 'utf8')));
  const examples = texts
    .flatMap(text => [...text.matchAll(/^```swift\n(.*?)^```$/gms)].map(([, code = '']) => code))
    .filter(code => !code.startsWith('// swift-tools-version'));
  expect(examples.length).toBeGreaterThan(12);
  const functions = examples.map((code, index) => {
    const body = code.replace(/^import .*$/gm, '');
    return `@MainActor func example${index}(client: ParleyClient, card: Card, stackView: UIStackView) async throws {\n${body}}\n`;
  });
  return APP + functions.join('\n');
}

describe.runIf(await isFound())('the Swift client', () => {
  beforeAll(() => inPackage('swift build --build-tests -Xswiftc -warnings-as-errors'), COMPILING_MS);

  test(
    'the cases of the contract',
    async () => {
      const output = await inPackage('swift test --skip-build 2>&1');
      expect(output).toMatch(/Executed \d{2,} tests, with 0 failures/);
    },
    COMPILING_MS,
  );

  test(
    'the format',
    () => inPackage('swift format lint --strict --recursive Sources Tests Stubs Package.swift'),
    300_000,
  );

  test(
    'any steps and values show what they show on the server',
    async () => {
      const cases = fc.sample(fc.tuple(steps, values), 2000).map(([all, given]) => {
        return { steps: all, values: given, shown: visibleSteps(all, given).map(({ key }) => key) };
      });
      await writeFile(join(BUILT, 'generated-steps.json'), JSON.stringify(cases));
      const filter = 'swift test --skip-build --filter StepTests/testWhatTheServerShows 2>&1';
      const output = await inPackage(`PARLEY_GENERATED_STEPS=.build/generated-steps.json ${filter}`);
      expect(output).toContain('Executed 1 test, with 0 failures');
    },
    COMPILING_MS,
  );

  test(
    'the views and all examples, against stubs of UIKit and SwiftUI',
    async () => {
      await writeFile(join(BUILT, 'examples.swift'), await writeExamples());
      expect(await inPackage('./Stubs/check /clients/swift/.build/examples.swift')).toBe(
        'The views fit the stubs of UIKit and SwiftUI.\n',
      );
    },
    COMPILING_MS,
  );

  describe('against a server', () => {
    let scenario: Awaited<ReturnType<typeof openScenario>>;
    let runner: Runner;
    beforeAll(async () => {
      await inPackage(COLLECT);
      runner = await findRunner();
      scenario = await openScenario();
    }, COMPILING_MS);
    afterAll(() => scenario?.[Symbol.asyncDispose]());

    test('the part app', () => scenario.play(runner, 'app'), 60_000);

    test('the part app-deliver, with lost replies and kills', async () => {
      await scenario.deliver(runner, 'app-deliver');
    }, 300_000);

    test('unsupported and unknown parts', async () => {
      expect(await scenario.exitCodeFor(runner, 'server')).toBe(3);
      expect(await scenario.exitCodeFor(runner, 'nothing')).toBe(2);
    });
  });

  test(
    'the quick start of its README, in an empty project',
    async () => {
      await using stack = new AsyncDisposableStack();
      const api = stack.use(await createApi());
      stack.use(await createWorker(api));
      const tenant = await makeTenant(api);
      const question = await publishQuestion(api, tenant);
      const backend = stack.use(await createTenantBackend(tenant));
      const project = await mkdtemp(join(tmpdir(), 'parley-app-'));
      stack.defer(() => rm(project, { recursive: true, force: true }));

      const code = (await readExample('Quick start'))
        .replace('https://feedback.example.com', api.baseUrl)
        .replace('https://api.example.com/v1/svc/auth/token', backend.url);
      await mkdir(join(project, 'Sources/App'), { recursive: true });
      const manifest = (await readExample('Install')).replace('../parley/clients/swift', '/clients/swift');
      await writeFile(join(project, 'Package.swift'), manifest);
      await writeFile(join(project, 'Sources/App/main.swift'), `let session = "quick|start"\n${code}`);
      await cp(join(ROOT, 'clients/swift'), join(project, 'swift'), {
        recursive: true,
        filter: path => !path.startsWith(BUILT),
      });
      await runInImage('swift run -Xswiftc -warnings-as-errors App', '/app', [
        `${project}:/app`,
        `${project}/swift:/clients/swift`,
      ]);

      const stored = await waitFor(async () => {
        const { body } = await api.request('GET', `/v1/answers?question_id=${question.id}`, { as: tenant.key.apiKey });
        return body.data.length > 0 && body.data;
      });
      expect(stored).toMatchObject([{ identity: 'quick|start', values: { main: 9 }, comment: 'I like it' }]);
    },
    COMPILING_MS,
  );
});
