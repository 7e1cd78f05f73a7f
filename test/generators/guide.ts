import { readFile } from 'node:fs/promises';

/** A section of the guide: the commands, and the files that it shows, by path. */
export interface Section {
  commands: string;
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
      return [
        heading,
        {
          commands: [...commandsIn(introduction), ...commandsIn(section)].join(''),
          files: Object.fromEntries([...files].map(([, path, text]) => [path, text])),
        },
      ];
    }),
  );
}

const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, commands]) => commands as string);
