/** README's table of commands, made from their definitions. `node docs/commands-table.ts` writes it into README.md. */
import { type Command, synopsisOf } from '../src/commands/command-line.ts';
import { COMMANDS } from '../src/commands/table.ts';
import { writeGeneratedPart } from './generated-part.ts';

const rowOf = (command: Command): string => {
  const link = command.seeAlso === undefined ? '' : ` ([more](${command.seeAlso}))`;
  return `| \`${synopsisOf(command)}\` | ${command.summary}${link} |`.replaceAll(/(?<=\w)\|(?=\w)/g, '\\|');
};

/** Returns the table as Markdown. */
export const commandsTable = (): string =>
  ['| Command | Effect |', '|---|---|', ...COMMANDS.filter(({ isInternal }) => !isInternal).map(rowOf), ''].join('\n');

if (import.meta.main) writeGeneratedPart('../README.md', 'commands', commandsTable());
