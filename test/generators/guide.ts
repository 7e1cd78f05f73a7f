import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A section of the guide: the commands, and the files that it shows, by path. */
export interface Section {
  commands: string;
  /** The part of the commands that generates the client from `openapi.json`; only with openapi-generator. */
  generate: string;
  files: Record<string, string>;
}

const GUIDE = new URL('../../docs/guides/clients-in-other-languages.md', import.meta.url);

/** Returns the sections of the guide by heading. The commands of the introduction precede those of each section. */
export async function readGuide(): Promise<Map<string, Section>> {
  const [introduction = '', ...sections] = (await readFile(GUIDE, 'utf8')).split(/^## /m);
  return new Map(
    sections.map(section => {
      const [heading = ''] = section.split('\n');
      const files = section.matchAll(/^`([\w./]+)`:\n\n```\w+\n([\s\S]*?)^```/gm);
      const commands = commandsIn(section);
      return [
        heading,
        {
          commands: commandsIn(introduction) + commands,
          generate: /^[\s\S]*^openapi-generator-cli (?:.*\\\n)*.*/m.exec(commands)?.[0] ?? '',
          files: Object.fromEntries([...files].map(([, path, text]) => [path, text])),
        },
      ];
    }),
  );
}

/** Writes the files of a section into a new folder. */
export async function writeFiles({ files }: Section, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const commandsIn = (text: string): string =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, commands]) => commands).join('');
