import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeVenv } from '../support/python.ts';
import { hasTool, outputOf, runTool } from '../support/tools.ts';

export const HERE = import.meta.dirname;
export const DOCUMENT = join(HERE, '../../docs/openapi.json');
export const BUILT = join(HERE, 'built');

const INSTALL_LIMIT_MS = 600_000;

/** Returns the path of Schemathesis, installed from `requests/requirements.txt`; undefined, with a message, without Python. */
export async function installSchemathesis(): Promise<string | undefined> {
  if (!(await hasTool(['python3', '-c', 'import venv, ensurepip, tomllib'], 'Schemathesis'))) return undefined;
  mkdirSync(BUILT, { recursive: true });
  const bin = await makeVenv(join(BUILT, 'venv'), join(HERE, 'requests/requirements.txt'));
  return join(bin, 'schemathesis');
}

/** Installs the linters of the document, and returns the folder of their programs. */
export async function installLinters(): Promise<string> {
  mkdirSync(BUILT, { recursive: true });
  await runTool('npm', ['ci', '--no-audit', '--no-fund'], { cwd: HERE, limitMs: INSTALL_LIMIT_MS });
  return join(HERE, 'node_modules/.bin');
}

/** Returns the path of oasdiff, built from the module of `changes/go.mod`; undefined, with a message, without Go. */
export async function installOasdiff(): Promise<string | undefined> {
  if (!(await hasTool(['go', 'version'], 'the comparison with the released document'))) return undefined;
  mkdirSync(BUILT, { recursive: true });
  const program = join(BUILT, 'oasdiff');
  const args = ['build', '-mod=readonly', '-o', program, 'github.com/oasdiff/oasdiff'];
  await runTool('go', args, { cwd: join(HERE, 'changes'), limitMs: INSTALL_LIMIT_MS });
  return program;
}

/** Runs a program, and returns its exit code and everything that it printed. */
export async function outcomeOf(command: string, args: string[], environment: Record<string, string> = {}) {
  try {
    const { stdout, stderr } = await outputOf(command, args, { environment, cwd: BUILT, limitMs: INSTALL_LIMIT_MS });
    return { code: 0, output: `${stdout}${stderr}` };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, output: `${stdout}${stderr}` };
  }
}
