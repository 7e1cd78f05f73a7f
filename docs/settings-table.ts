/** Writes the table of settings in README.md from their definitions: `node docs/settings-table.ts`. */
import { describeSettings } from '../src/platform/config.ts';
import { writeGeneratedPart } from './generated-part.ts';

const inCell = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('|', '\\|');

/** The rows as Markdown. */
export const settingsTable = (): string =>
  [
    '| Setting | Default | Meaning |',
    '|---|---|---|',
    ...describeSettings().map(
      ({ name, fallback, meaning }) => `| \`${name}\` | ${fallback && `\`${fallback}\``} | ${inCell(meaning)} |`,
    ),
    '',
  ].join('\n');

if (import.meta.main) writeGeneratedPart('../README.md', 'settings', settingsTable());
