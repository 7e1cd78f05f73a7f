/** Writes the table of settings in README.md from their definitions: `node docs/settings-table.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeSettings } from '../src/platform/config.ts';

const README = resolve(import.meta.dirname, '../README.md');
const BETWEEN_MARKERS = /(?<=<!-- settings -->\n).*?(?=<!-- \/settings -->)/s;

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

/** Returns the text between the markers in README.md. */
export const settingsIn = (readme: string): string | undefined => BETWEEN_MARKERS.exec(readme)?.[0];

if (import.meta.main) {
  const readme = readFileSync(README, 'utf8');
  if (settingsIn(readme) === undefined) throw new Error('README.md has lost its markers <!-- settings -->');
  writeFileSync(README, readme.replace(BETWEEN_MARKERS, settingsTable()));
}
