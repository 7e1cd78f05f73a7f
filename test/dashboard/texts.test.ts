import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setupI18n } from '@lingui/core';
import { expect, test } from 'vitest';
import { compiledMessages } from '../../dashboard/vite.config.ts';

const DASHBOARD = resolve(import.meta.dirname, '../../dashboard');
const german = JSON.parse(readFileSync(resolve(DASHBOARD, 'locales/de.json'), 'utf8')) as Record<string, string>;

const TEXT = /\bt\(\s*'((?:[^'\\]|\\.)*)'/g;
const ANY_TEXT_CALL = /(?<![\w.])t\(/g;

const sources = readdirSync(DASHBOARD, { recursive: true, encoding: 'utf8' })
  .filter(path => /\.tsx?$/.test(path) && !path.startsWith('built') && path !== 'i18n.ts')
  .map(path => ({ path, text: readFileSync(resolve(DASHBOARD, path), 'utf8') }));

const used = new Set(sources.flatMap(({ text }) => [...text.matchAll(TEXT)].map(([, key]) => key as string)));

const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name as string).sort();

test('German has every text of the pages and no others', () => {
  expect(used.size).toBeGreaterThan(300);
  expect([...used, 'just now'].filter(key => !Object.hasOwn(german, key))).toEqual([]);
  expect(Object.keys(german).filter(key => !used.has(key) && key !== 'just now')).toEqual([]);
  expect(Object.entries(german).filter(([, text]) => text.trim() === '')).toEqual([]);
});

test('every text is a literal, so that it can be found', () => {
  const hidden = sources.filter(
    ({ text }) => [...text.matchAll(ANY_TEXT_CALL)].length !== [...text.matchAll(TEXT)].length,
  );
  expect(hidden.map(({ path }) => path)).toEqual([]);
});

test('a translation uses the placeholders of its text', () => {
  const wrong = Object.entries(german).filter(([key, text]) => {
    const isPlural = key.includes(', plural,');
    return !isPlural && placeholders(key).join() !== placeholders(text).join();
  });
  expect(wrong).toEqual([]);
});

test.each([
  ['en', 'Version {version}', { version: 3 }, 'Version 3'],
  ['de', 'Version {version}', { version: 3 }, 'Version 3'],
  ['en', '{count, plural, one {# scope} other {# scopes}}', { count: 1 }, '1 scope'],
  ['de', '{count, plural, one {# scope} other {# scopes}}', { count: 12 }, '12 Berechtigungen'],
  ['en', 'Save changes', {}, 'Save changes'],
  ['de', 'Save changes', {}, 'Änderungen speichern'],
])('%s: %s is formatted correctly', (locale, key, values, words) => {
  const i18n = setupI18n();
  i18n.loadAndActivate({ locale, messages: compiledMessages(locale) as never });
  expect(i18n._(key, values)).toBe(words);
});
