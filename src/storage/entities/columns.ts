import { p } from '@mikro-orm/postgresql';

/** A time in milliseconds, the precision of a JavaScript `Date`, so that cursors never skip a row. */
export const moment = () => p.datetime(3);
export const uuid = () => p.uuid();
export const text = () => p.text();
/** Identities are opaque: comparing them by bytes is correct and faster. */
export const identity = () => text().collation('C');
export const int = () => p.integer();
export const textArray = () => p.array<string>().columnType('text[]');
export const uuidArray = () => p.array<string>().columnType('uuid[]');
export const json = <T>() => p.json<T>();

/** A partial or full-text index that is defined only in the schema or a migration; the entity refers to its name. */
export const indexFromMigration = (name: string) => ({ name, expression: `create index ${name}` });
