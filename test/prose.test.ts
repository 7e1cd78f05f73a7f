import { expect, test } from 'vitest';
import { findIdioms, RULES, readMarkdown, readSlashComments } from '../docs/check-prose.ts';

test.each(RULES)('the prose check rejects "$example"', ({ name, example }) => {
  expect(findIdioms(example).map(({ rule }) => rule)).toContain(name);
});

test.each([
  'Nothing tells whether keys were revoked.',
  'Who sees what is missing?\nThen what was accepted is counted.',
  'The card is of no one, and whatever came is stored beside it in vain.',
  'A card alone decides, by itself, so many times as it can not.',
  'The process hears of it, says so, gives the answer and takes the next job.',
])('the prose check finds the idiom in "%s"', sentence => {
  expect(findIdioms(sentence)).not.toEqual([]);
});

test.each([
  'None of the unit tests need a database.',
  'Besides the API key, the request carries a tenant.',
  "See what's new, and decide what to do next.",
  'What happens if the worker dies before it acknowledges the job?',
  'Leave the lock alone; the stand-alone image has its own.',
  'The setting takes effect after a restart, which takes about a second.',
  'A restart takes 18 s, or up to 20 s under load.',
  'The operator says why, and the user gives a reason.',
])('the prose check accepts "%s"', sentence => {
  expect(findIdioms(sentence)).toEqual([]);
});

test('headings, code, quotations and generated parts of a document are not prose', () => {
  const document = [
    '# What it must show',
    '| What | Nothing |',
    '|---|---|',
    '`nothing` and "a bug was told" and [a link](nobody.md)',
    '> Nobody is quoted.',
    '```sh\necho nothing\n```',
    '<!-- settings -->\nwhat is generated\n<!-- /settings -->',
  ].join('\n');
  expect(findIdioms(readMarkdown(document))).toEqual([]);
  expect(findIdioms(readMarkdown('0 < x, and nothing\n> 1 [a](b) nobody'))).toHaveLength(1);
  expect(findIdioms(readMarkdown('| a | b |\n|---|---|\n| nothing | x |'))).toHaveLength(1);
});

test('only comments of a source file are prose', () => {
  const source = "const url = 'http://nobody'; // anew\n/** The worker says so. */\nconst nothing = `// what is`;";
  expect(findIdioms(readSlashComments(source)).map(({ words }) => words.trim())).toHaveLength(2);
});
