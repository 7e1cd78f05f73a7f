// Removes the white space from the style sheets of the built package, which minifiers of JavaScript leave as they are.
import { readFile, writeFile } from 'node:fs/promises';

const minify = css =>
  css
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/ ([+~]) (?=[^;}]*{)/g, '$1') // of selectors; `calc` needs them
    .replace(/;}/g, '}')
    .replace(/ !|(?<=@media) /g, each => each.trim())
    .trim();

for (const part of ['feedback', 'placements']) {
  const file = new URL(`dist/${part}/styles.js`, import.meta.url);
  const code = await readFile(file, 'utf8');
  await writeFile(
    file,
    code.replace(/const STYLES = `([^`]*)`/, (_, css) => `const STYLES = \`${minify(css)}\``),
  );
}
