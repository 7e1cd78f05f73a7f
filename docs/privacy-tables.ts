/** Writes the tables of docs/privacy.md from the data map: `node docs/privacy-tables.ts`. */
import { CACHES, JOB_FIELDS, OTHER_MEMORY, STORES, TABLES } from '../src/storage/data-map/data-map.ts';
import {
  type Erasure,
  type Export,
  type Fields,
  KINDS,
  type Kind,
  type MemoryEntry,
  type TableEntry,
} from '../src/storage/data-map/entry.ts';
import { writeGeneratedPart } from './generated-part.ts';

const codes = (names: string): string =>
  names
    .trim()
    .split(/\s+/)
    .map(name => `\`${name}\``)
    .join(', ');

/** The names of the fields by kind, without technical ones unless there are no others. */
function contentOf(fields: Fields): string {
  const kinds = (Object.keys(KINDS) as Kind[]).filter(kind => kind !== 'technical' && fields[kind]);
  return kinds.map(kind => `${KINDS[kind]}: ${codes(fields[kind] as string)}`).join('; ') || KINDS.technical;
}

function effectOf(erasure: Erasure): string {
  if (erasure === 'delete') return 'deleted';
  if ('blank' in erasure) return `${codes(erasure.blank)} is emptied`;
  if ('digest' in erasure) return `${codes(erasure.digest)} is replaced by a digest`;
  return `kept: ${erasure.keep}`;
}

const exported = (part: Export): string =>
  typeof part === 'string' ? `exported as \`${part}\`` : `not exported: ${part.omit}`;

const personCell = ({ person }: TableEntry): string =>
  person ? `${effectOf(person.erasure)}; ${exported(person.export)}` : 'not affected';

const table = (head: string[], rows: string[][]): string[] =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`);

function section(title: string, entries: Record<string, TableEntry>): string[] {
  const hasPersons = Object.values(entries).some(({ person }) => person);
  const head = ['Table', 'Purpose', 'Content', 'Kept', ...(hasPersons ? ['Erasure and export of the person'] : [])];
  const rows = Object.entries(entries).map(([name, entry]) => [
    ...[`\`${name}\``, entry.why, contentOf(entry), entry.kept],
    ...(hasPersons ? [personCell(entry)] : []),
  ]);
  return [`## ${title}`, '', ...table(head, rows), ''];
}

const memory = (title: string, entries: Record<string, MemoryEntry>): string[] => [
  ...[`## ${title}`, ''],
  ...table(
    ['Data', 'Purpose', 'Content', 'Kept'],
    Object.entries(entries).map(([name, { why, holds, kept }]) => [
      ...[`\`${name}\``, why, holds.map(kind => KINDS[kind]).join('; '), kept],
    ]),
  ),
  '',
];

/** Returns the generated part of the page as Markdown. */
export const privacyTables = (): string =>
  [
    ...Object.entries(TABLES).flatMap(([title, entries]) => section(title, entries)),
    ...memory('Queue', STORES),
    ...table(
      ['Job of the queue', 'Content'],
      Object.entries(JOB_FIELDS).map(([name, fields]) => [`\`${name}\``, contentOf(fields)]),
    ),
    '',
    ...memory('Memory of a process', { ...CACHES, ...OTHER_MEMORY }),
  ].join('\n');

if (import.meta.main) writeGeneratedPart('privacy.md', 'data', privacyTables());
