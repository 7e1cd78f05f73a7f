import type { Page } from 'playwright-core';

/** Reverses the text after it, until the end of its paragraph or of an isolated element. */
export const OVERRIDE = '\u202e';

/** As a text, because the tests are compiled without the types of a browser. */
const FIND = `(override => {
  const found = [];
  const isolates = element => {
    const { display, unicodeBidi } = getComputedStyle(element);
    return display !== 'inline' || /isolate|plaintext/.test(unicodeBidi);
  };
  const visit = root => {
    for (const node of root.childNodes) {
      if (node.shadowRoot) visit(node.shadowRoot);
      visit(node);
      if (!(node instanceof Text) || !node.data.includes(override)) continue;
      let around = node.parentElement;
      if (!around || around.closest('.hidden-text, option, textarea, script, style, title')) continue;
      while (!isolates(around) && around.parentElement) around = around.parentElement;
      const after = document.createRange();
      after.setStartAfter(node);
      after.setEndAfter(around.lastChild);
      if (after.toString().trim() !== '') found.push(around.outerHTML.slice(0, 300));
    }
  };
  visit(document.body);
  return found;
})`;

/**
 * The elements of a page in which the override of one text reverses the text after it. An element with `dir="auto"` and a
 * block end its effect. Hidden texts, options and fields are left out.
 */
export const reversedNeighbours = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`${FIND}(${JSON.stringify(OVERRIDE)})`);
