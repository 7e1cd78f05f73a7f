import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** The shell code blocks in one section of a document, or in one subsection of it, in order. */
export function shellBlocks(document: string, section: string, subsection?: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const whole = text.split(/^## /m).find(each => each.startsWith(`${section}\n`)) ?? '';
  const part = subsection ? (whole.split(/^### /m).find(each => each.startsWith(`${subsection}\n`)) ?? '') : whole;
  return [...part.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** Runs shell commands in the project's root; rejects with their error output. `before` may define functions. */
export async function runDocumented(script: string, environment: Record<string, string>, before = ''): Promise<string> {
  const child = spawn('sh', [], { cwd: ROOT, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment } });
  let [output, complaints] = ['', ''];
  child.stdout.on('data', chunk => (output += chunk));
  child.stderr.on('data', chunk => (complaints += chunk));
  child.stdin.end(`${before}\n${script}`);
  const code = await new Promise(done => child.once('close', done));
  if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${output}\n${complaints}`);
  return output;
}
