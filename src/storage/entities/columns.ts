import { p } from '@mikro-orm/postgresql';

/** A moment to the millisecond, so that a JavaScript `Date` holds it exactly and cursors never skip a row. */
export const moment = () => p.datetime(3);
export const uuid = () => p.uuid();
export const text = () => p.text();
/** Identities mean nothing in any language: they are compared by their bytes, which is also faster. */
export const identity = () => text().collation('C');
export const int = () => p.integer();
export const textArray = () => p.array<string>().columnType('text[]');
export const json = <T>() => p.json<T>();

/** An index that only SQL can say, partial or of words: the migration says it, here stands its name. */
export const saidInSql = (name: string) => ({ name, expression: `create index ${name}` });
