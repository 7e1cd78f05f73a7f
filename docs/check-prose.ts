/**
 * Counts idioms that docs/writing.md replaces, per 1,000 words and folder. `npm run lint` fails above the ceiling.
 *
 * `node docs/check-prose.ts --report` prints every folder; `--list <folder>` prints each occurrence.
 */
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type Rule = { name: string; pattern: RegExp; example: string };

/** Each rule with a sentence that it must reject. */
export const RULES: Rule[] = [
  {
    name: 'negated pronoun as the actor',
    pattern: /\b(?:nobody|no one|nothing|none(?! of\b|-))\b/gi,
    example: 'Nobody waits for a reply to have left.',
  },
  {
    name: 'clause where English has a noun',
    pattern: /\bwhat\b(?!['’]s\b|\s+to\b|[^.!?\n]*\?)|\b(?:whoever|whatever)\b|\bthat which\b/gi,
    example: 'What was accepted and is missing is counted.',
  },
  {
    name: '"alone" for only',
    pattern: /(?<!\b(?:stand-|let |(?:leave|leaves|left)(?: [\w-]+){0,3} ))\balone\b/gi,
    example: 'The backend alone knows the secret.',
  },
  {
    name: 'literal adverb',
    pattern: /\banew\b|\bbeside\b|\bin vain\b|\bby (?:itself|themselves)\b|\bso many\b|\bcan not\b(?! only)/gi,
    example: 'The body is read anew.',
  },
  {
    name: 'human verb for a machine',
    pattern:
      /(?<!\b(?:you|we|who|user|users|person|people|member|members|operator|admin|team) )\b(?:tells?|told|says?|said|hears?|heard|knows|gives(?! (?:up|access|rise))|takes(?! (?:effect|place|over|part|up|one|precedence|(?:about |up to |at most )?(?:\d|an? (?:second|minute|hour|while)))))\b/gi,
    example: 'The worker tells the API which keys were revoked.',
  },
];

/** The highest number of marker words per 1,000 in each folder. */
const CEILING = 2;

type Reader = (text: string) => string;
type Source = { kind: string; files: string[]; read: Reader; folder?: (path: string) => string };

const blank = (text: string): string => text.replace(/[^\n]+/g, ' ');

/** Prose of a Markdown document, without code, quotations, headings, table heads and generated parts. */
export const readMarkdown: Reader = text =>
  text
    .replace(/<!-- (\S+) -->[\s\S]*?<!-- \/\1 -->/g, blank)
    .replace(/^ *(`{3,})[\s\S]*?^ *\1/gm, blank)
    .replace(/^(?:#+ |>|\|.*\n\|[-|: ]+\|$).*/gm, blank)
    .replace(/`[^`\n]*(?:\n[^`\n]+)?`|"[^"\n]*"|“[^”]*”/g, blank)
    .replace(/<[^>\n]+>|\]\([^)\n]*\)|https?:\S+/g, blank);

const withoutQuotes: Reader = text => text.replace(/`[^`\n]*`|"[^"\n]*"|“[^”]*”/g, blank);

/** Matches strings as well, so that a `//` within one is not treated as a comment. */
const SLASH_COMMENTS = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
const HASH_COMMENTS = /'[^'\n]*'|(?<!"")"(?!"")[^"\n]*"|"""[\s\S]*?"""|(?<=^|\s)#[^\n]*|\{\{-?\/\*[\s\S]*?\*\//gm;

/** Comments of a source file; code between them becomes blank lines. */
const commentsBy =
  (pattern: RegExp, starts: string[]): Reader =>
  text => {
    const comments = text.matchAll(pattern).map(match => match[0]);
    const own = [...comments].filter(comment => starts.some(start => comment.startsWith(start)));
    return withoutQuotes(own.map(comment => comment.replace(/^\s*(?:\/\/+|\/?\*+\/?|#+)/gm, ' ')).join('\n\n'));
  };
export const readSlashComments = commentsBy(SLASH_COMMENTS, ['/']);
const readHashComments = commentsBy(HASH_COMMENTS, ['#', '"""', '{']);

/** String literals of at least three words: error details, descriptions of settings and metrics. */
const readTexts: Reader = text =>
  [...text.matchAll(SLASH_COMMENTS)]
    .map(match => match[0])
    .filter(literal => !literal.startsWith('/') && literal.split(' ').length > 2)
    .join('\n');

const readUiTexts: Reader = text => Object.keys(JSON.parse(text) as object).join('\n');

const parents = (depth: number) => (path: string) => path.split('/').slice(0, -1).slice(0, depth).join('/') || '.';

const SOURCES: Source[] = [
  { kind: 'documents', files: ['{README,CONTRIBUTING}.md', 'docs/**/*.md', 'clients/*/*.md'], read: readMarkdown },
  { kind: 'documents', files: ['{helm,bench,test}/**/*.md'], read: readMarkdown, folder: parents(1) },
  { kind: 'comments', files: ['src/**/*.ts'], read: readSlashComments },
  {
    kind: 'comments',
    files: ['{dashboard,clients,test,bench,docs}/**/*.{ts,tsx,swift,php,css}'],
    read: readSlashComments,
    folder: parents(1),
  },
  {
    kind: 'comments',
    files: ['clients/**/*.py', '{helm,config}/**/*.{yaml,tpl}', 'docker-compose.yml'],
    read: readHashComments,
    folder: parents(1),
  },
  { kind: 'UI texts', files: ['dashboard/locales/de.json'], read: readUiTexts },
  { kind: 'texts', files: ['src/domain/problem{,-catalog}.ts', 'src/platform/{config,metrics}.ts'], read: readTexts },
];

const ROOT = resolve(import.meta.dirname, '..');
const IGNORED = /(^|\/)(node_modules|built|dist|vendor|results|\.build|\.venv)(\/|$)|dashboard\/api\/schema\.ts/;

export type Finding = { rule: string; words: string };

/** Every occurrence of a rule's idiom, with the words around it. */
export const findIdioms = (prose: string): Finding[] =>
  RULES.flatMap(({ name, pattern }) =>
    [...prose.matchAll(pattern)].map(match => ({
      rule: name,
      words: prose.slice(Math.max(0, match.index - 40), match.index + 50).replace(/\s+/g, ' '),
    })),
  );

type Count = { words: number; findings: (Finding & { path: string })[] };

/** Words and findings of each folder, by a name such as `src/api comments`. */
function countFolders(): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (const { kind, files, read, folder = parents(2) } of SOURCES)
    for (const path of globSync(files, { cwd: ROOT, exclude: name => IGNORED.test(name) }).toSorted()) {
      const name = `${folder(path)} ${kind}`;
      const count = counts.get(name) ?? { words: 0, findings: [] };
      const prose = read(readFileSync(resolve(ROOT, path), 'utf8'));
      count.words += prose.match(/[A-Za-z][\w'’-]*/g)?.length ?? 0;
      count.findings.push(...findIdioms(prose).map(finding => ({ ...finding, path })));
      counts.set(name, count);
    }
  return counts;
}

function main([option, wanted]: string[]): void {
  for (const [folder, { words, findings }] of countFolders()) {
    const rate = (findings.length / Math.max(words, 1000)) * 1000;
    const figures = `${folder}: ${rate.toFixed(1)} per 1,000 words (${findings.length} in ${words}; ceiling ${CEILING})`;
    if (option === '--report') console.log(figures);
    if (option === '--list' && wanted === folder)
      for (const { path, rule, words } of findings) console.log(`${path}: ${rule}: …${words}…`);
    if (rate <= CEILING) continue;
    console.error(`${figures}. See docs/writing.md, and \`node docs/check-prose.ts --list '${folder}'\`.`);
    process.exitCode = 1;
  }
}

if (import.meta.main) main(process.argv.slice(2));
