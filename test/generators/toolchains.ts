import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { makeVenv } from '../support/python.ts';
import { hasTool, outputOf } from '../support/tools.ts';

export const HERE = import.meta.dirname;
export const DOCUMENT = join(HERE, '../../docs/openapi.json');
export const BUILT = join(HERE, 'built');
const VENV = join(BUILT, 'venv');

export const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const JAR_URL =
  'https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/7.25.0/openapi-generator-cli-7.25.0.jar';
const JAR_SHA256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae';
const JAR = join(BUILT, 'openapi-generator-cli-7.25.0.jar');
const COMMANDS = join(BUILT, 'bin');

const LIMIT_MS = 600_000;

/** Runs a program and returns its output; rejects with all of it. */
export async function run(command: string, args: string[], cwd = HERE, environment: Record<string, string> = {}) {
  const options = { cwd, environment: { ...environment, GOFLAGS: '-mod=mod' }, limitMs: LIMIT_MS };
  try {
    const { stdout, stderr } = await outputOf(command, args, options);
    return { stdout: String(stdout), stderr: String(stderr) };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')}\n${`${stdout}${stderr}`.slice(-4000)}`, { cause: error });
  }
}

/** The program of a name in the Python environment of the generators. */
export const inVenv = (name: string): string => join(VENV, 'bin', name);
/** The program of a name among the npm packages of the generators. */
export const inNpm = (name: string): string => join(HERE, 'node_modules/.bin', name);

async function fetchJar(): Promise<void> {
  const isIntact = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex') === JAR_SHA256;
  if (existsSync(JAR) && isIntact(readFileSync(JAR))) return;
  const bytes = new Uint8Array(await (await fetch(JAR_URL)).arrayBuffer());
  if (!isIntact(bytes)) throw new Error(`${JAR_URL} does not have the expected SHA-256.`);
  await writeFile(JAR, bytes);
}

/** Runs commands of a shell that may contain `openapi-generator-cli`, up to the first that fails. */
export const runShell = (commands: string, folder: string, environment: Record<string, string> = {}) =>
  run('bash', ['-e', '-c', commands], folder, {
    ...environment,
    PATH: `${COMMANDS}${delimiter}${process.env.PATH}`,
  });

/** Installs the command `openapi-generator-cli` for `runShell`. */
async function installOpenApiGenerator(): Promise<void> {
  await fetchJar();
  mkdirSync(COMMANDS, { recursive: true });
  const command = `#!/bin/sh\nexec java -Xmx1g -jar '${JAR}' "$@"\n`;
  await writeFile(join(COMMANDS, 'openapi-generator-cli'), command, { mode: 0o755 });
}

/** The toolchains that are installed here; prints which generators are skipped without one. */
export interface Toolchains {
  typescript: boolean;
  python: boolean;
  go: boolean;
  java: boolean;
  maven: boolean;
  mono: boolean;
  dotnet: boolean;
  rust: boolean;
}

/** Finds the toolchains, and installs the generators of those that exist. */
export async function prepareToolchains(): Promise<Toolchains> {
  mkdirSync(BUILT, { recursive: true });
  const found: Toolchains = {
    typescript: true,
    python: await hasTool(['python3', '-c', 'import venv, ensurepip'], 'generators for Python'),
    go: await hasTool(['go', 'version'], 'generators for Go'),
    java: await hasTool(['java', '-version'], 'openapi-generator'),
    maven: await hasTool(['mvn', '--version'], 'compilation of Java'),
    mono: await hasTool(['mcs', '--version'], 'openapi-generator for C#'),
    dotnet: await hasTool(['dotnet', '--version'], 'the guide for C#'),
    rust: await hasTool(['cargo', '--version'], 'openapi-generator for Rust'),
  };
  await run('npm', ['ci', '--no-audit', '--no-fund']);
  if (found.python) await makeVenv(VENV, join(HERE, 'python/requirements.txt'));
  if (found.java) await installOpenApiGenerator();
  return found;
}
