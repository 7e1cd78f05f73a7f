import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from './tools.ts';

const INSTALL_LIMIT_MS = 600_000;

interface VenvOptions {
  /** The program of the Python to use. */
  python?: string;
  /** The folder of a project to install in place, and its extras. */
  project?: { folder: string; extras: string };
}

/**
 * Creates a virtual environment with the packages of requirements files, unless it exists with these packages. Returns the folder
 * of its programs.
 */
export async function makeVenv(
  folder: string,
  requirementsFiles: string | string[],
  { python = 'python3', project }: VenvOptions = {},
): Promise<string> {
  const files = [requirementsFiles].flat();
  const sources = project ? [...files, join(project.folder, 'pyproject.toml')] : files;
  const texts = sources.map(file => readFileSync(file, 'utf8'));
  const wanted = createHash('sha256')
    .update(JSON.stringify([python, project, texts]))
    .digest('hex');
  const programs = join(folder, 'bin');
  const stamp = join(folder, 'made-of');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return programs;
  await runTool(python, ['-m', 'venv', '--clear', folder]);
  const packages = files.flatMap(file => ['-r', file]);
  if (project) packages.push('--editable', `${project.folder}[${project.extras}]`);
  const install = ['-m', 'pip', '--quiet', '--disable-pip-version-check', 'install', ...packages];
  await runTool(join(programs, 'python'), install, { limitMs: INSTALL_LIMIT_MS });
  await writeFile(stamp, wanted);
  return programs;
}
