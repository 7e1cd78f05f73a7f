import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../support/documents.ts';

/** The files of the guide by their language: `parley.js`, and a component for each framework. */
const FILES = { js: 'parley.js', jsx: 'feedback.jsx', vue: 'Feedback.vue', svelte: 'Feedback.svelte' };

/** Writes the guide's files for frameworks into a folder, with the address and the login of a test. */
export async function writeRecipes(folder: string, baseUrl: string): Promise<void> {
  const guide = await readFile(join(ROOT, 'docs/guides/cards-in-your-app.md'), 'utf8');
  const [section = ''] = /^### Frameworks$[\s\S]*?(?=^### )/m.exec(guide) ?? [];
  for (const [language, name] of Object.entries(FILES)) {
    const [, text] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(section) ?? [];
    if (!text) throw new Error(`The guide has no ${name}.`);
    const written = text
      .replace('https://feedback.example.com', baseUrl)
      .replace("{ credentials: 'include' }", "{ headers: { Authorization: 'Bearer user|1' } }");
    if (name === 'parley.js' && !(written.includes(baseUrl) && written.includes('user|1')))
      throw new Error('parley.js has another address or login than expected.');
    await writeFile(join(folder, name), written);
  }
}
