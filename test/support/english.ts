import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const german = JSON.parse(readFileSync(new URL('../../dashboard/locales/de.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;

/** A text of the sources as a pattern: whatever fills its placeholders, it is this text. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split(/\{\w+\}/)
      .map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}$`,
  );

/** Every text that German has another one for. A plural is none that could be on a page. */
const ENGLISH = Object.entries(german)
  .filter(([key, text]) => key !== text && !key.includes(', plural,') && /[a-z]/i.test(key.replaceAll(/\{\w+\}/g, '')))
  .map(([key]) => patternOf(key));

/** Whatever is written on a page or read out of it. */
const TEXTS = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.textContent);
  for (const name of ['aria-label', 'placeholder', 'title', 'alt'])
    for (const element of document.querySelectorAll('[' + name + ']')) texts.push(element.getAttribute(name));
  return texts;
})()`;

/** The texts of the sources that stand on a page as they are, in English. */
export async function englishOn(page: Page): Promise<string[]> {
  const texts = (await page.evaluate<string[]>(TEXTS)).map(text => text.replace(/ · Parley$/, '').trim());
  return [...new Set(texts)].filter(text => text !== '' && ENGLISH.some(pattern => pattern.test(text)));
}
