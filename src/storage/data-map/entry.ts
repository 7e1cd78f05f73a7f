/**
 * The kinds of data in a column or in a field of a job. `identity`, `words` and `about` are data of a person who answers
 * questions or writes messages.
 */
export const KINDS = {
  identity: 'identifies the person',
  words: 'from the person',
  about: 'about the person',
  team: 'about team members',
  settings: 'settings and texts of the tenant',
  secret: 'secrets',
  technical: 'ids, positions and counts',
} as const;
export type Kind = keyof typeof KINDS;

/** The kinds of a person's data. */
export const PERSONAL = ['identity', 'words', 'about'] as const satisfies readonly Kind[];

/** The names of columns or fields by kind, separated by spaces. */
export type Fields = Partial<Record<Kind, string>>;

/**
 * What erasing the person does to the rows: it deletes them, empties columns, replaces columns by the erasure's digest, or keeps
 * the rows for a reason. Columns are separated by spaces.
 */
export type Erasure = 'delete' | { blank: string } | { digest: string } | { keep: string };

/** The object of a person's export in which the rows appear, or the reason for which they do not. */
export type Export = 'answers' | 'cards' | 'conversations' | 'messages' | 'profiles' | 'quarantined' | { omit: string };

/**
 * How a person's rows are found: by the columns `identity` and `identity_verified`, by the row of another table to which they
 * belong, by the id of any object of the person, or by their content.
 */
export type FoundBy = 'identity' | 'answers' | 'conversations' | 'identities' | 'objects' | 'content';

/** The purpose and retention of a table's rows. `person` is set for each table with a person's data. */
export interface TableEntry extends Fields {
  why: string;
  kept: string;
  person?: { by: FoundBy; erasure: Erasure; export: Export };
}

/** Data outside of tables: in memory, in Valkey or Redis, or in the tables of the queue. */
export interface MemoryEntry {
  holds: readonly Kind[];
  why: string;
  kept: string;
}
