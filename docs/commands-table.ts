/** README's table of commands, made from their definitions. `node docs/commands-table.ts` writes it into README.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, synopsisOf } from '../src/commands/command-line.ts';
import { COMMANDS } from '../src/commands/table.ts';

const README = resolve(import.meta.dirname, '../README.md');
const BETWEEN_MARKERS = /(?<=<!-- commands -->\n).*?(?=<!-- \/commands -->)/s;

const rowOf = (command: Command): string => {
  const link = command.seeAlso === undefined ? '' : ` ([more](${command.seeAlso}))`;
  return `| \`${synopsisOf(command)}\` | ${command.summary}${link} |`.replaceAll(/(?<=\w)\|(?=\w)/g, '\\|');
};

/** Returns the table as Markdown. */
export const commandsTable = (): string =>
  ['| Command | Effect |', '|---|---|', ...COMMANDS.filter(({ isInternal }) => !isInternal).map(rowOf), ''].join('\n');

/** Returns the part of a README between the markers. */
export const commandsIn = (readme: string): string | undefined => BETWEEN_MARKERS.exec(readme)?.[0];

if (import.meta.main) {
  const readme = readFileSync(README, 'utf8');
  if (commandsIn(readme) === undefined) throw new Error('README.md lacks the markers <!-- commands -->');
  writeFileSync(README, readme.replace(BETWEEN_MARKERS, commandsTable()));
}
