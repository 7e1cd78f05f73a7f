import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const between = (name: string): RegExp => new RegExp(`(?<=<!-- ${name} -->\\n).*?(?=<!-- /${name} -->)`, 's');

/** Returns the part of a document between the markers `<!-- name -->` and `<!-- /name -->`, which a script of this folder writes. */
export const generatedPart = (document: string, name: string): string | undefined => between(name).exec(document)?.[0];

/** Replaces that part of a document, whose path begins in this folder. Throws if the document lacks the markers. */
export function writeGeneratedPart(path: string, name: string, text: string): void {
  const file = resolve(import.meta.dirname, path);
  const document = readFileSync(file, 'utf8');
  if (generatedPart(document, name) === undefined) throw new Error(`${path} lacks the markers <!-- ${name} -->`);
  writeFileSync(
    file,
    document.replace(between(name), () => text),
  );
}
