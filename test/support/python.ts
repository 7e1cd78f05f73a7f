import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from './tools.ts';

const INSTALL_LIMIT_MS = 600_000;

/**
 * Creates a virtual environment with the packages of a requirements file, unless it exists with these packages. Returns the folder
 * of its programs.
 */
export async function makeVenv(folder: string, requirementsFile: string): Promise<string> {
  const requirements = readFileSync(requirementsFile, 'utf8');
  const programs = join(folder, 'bin');
  const stamp = join(folder, 'made-of');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === requirements) return programs;
  await runTool('python3', ['-m', 'venv', '--clear', folder]);
  const install = ['-m', 'pip', '--quiet', '--disable-pip-version-check', 'install', '-r', requirementsFile];
  await runTool(join(programs, 'python'), install, { limitMs: INSTALL_LIMIT_MS });
  await writeFile(stamp, requirements);
  return programs;
}
