import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const german = JSON.parse(readFileSync(new URL('../../dashboard/locales/de.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;

/** A source text as a pattern that matches it with any values for its placeholders. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split(/\{\w+\}/)
      .map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}$`,
  );

/** All texts with a different German translation. Plurals are excluded, because their keys do not appear on pages. */
const ENGLISH = Object.entries(german)
  .filter(([key, text]) => key !== text && !key.includes(', plural,') && /[a-z]/i.test(key.replaceAll(/\{\w+\}/g, '')))
  .map(([key]) => patternOf(key));

/** All visible and accessible texts of a page. */
const TEXTS = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.textContent);
  for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
    for (const element of document.querySelectorAll('[' + name + ']')) texts.push(element.getAttribute(name));
  return texts;
})()`;

/** The English source texts on a page. */
export async function englishOn(page: Page): Promise<string[]> {
  const texts = (await page.evaluate<string[]>(TEXTS)).map(text => text.replace(/ · Parley$/, '').trim());
  return [...new Set(texts)].filter(text => text !== '' && ENGLISH.some(pattern => pattern.test(text)));
}
