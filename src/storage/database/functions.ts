import { createHash } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { functionNames, readFunction } from '../schema/sql-files.ts';
import { quoted, withRolePrefix } from './database-roles.ts';

/** A function that `applyFunctions` has made. Its comment in the database is the digest of its text. */
interface AppliedFunction {
  name: string;
  digest: string;
  signature: string;
  is_trigger: boolean;
}

const FIND_APPLIED = `
select proname as name, oid::regprocedure::text as signature, prorettype = 'trigger'::regtype as is_trigger,
  obj_description(oid, 'pg_proc') as digest
from pg_proc where pronamespace = 'public'::regnamespace and obj_description(oid, 'pg_proc') like 'sha256 %'`;

const digestOf = (text: string): string => `sha256 ${createHash('sha256').update(text).digest('hex')}`;

/**
 * Applies the functions whose text differs from the applied one, and drops those that have no text any more, in one
 * transaction. Returns the names of both.
 *
 * An unchanged function is not applied again, because replacing its triggers locks their tables.
 */
export const applyFunctions = (orm: MikroORM, prefix: string): Promise<string[]> =>
  orm.em.fork().transactional(async em => {
    const applied = await em.execute<AppliedFunction[]>(FIND_APPLIED);
    const names = functionNames();
    const dropped = applied.filter(({ name }) => !names.includes(name));
    for (const { signature, is_trigger } of dropped)
      await em.execute(`drop function ${signature}${is_trigger ? ' cascade' : ''}`); // with the triggers that call it
    const changed = names
      .map(name => ({ name, text: withRolePrefix(readFunction(name), prefix) }))
      .filter(({ name, text }) => !applied.some(one => one.name === name && one.digest === digestOf(text)));
    if (changed.length > 0) await em.execute('set local check_function_bodies = off'); // they call each other
    for (const each of changed) await apply(em, each);
    return [...dropped, ...changed].map(({ name }) => name);
  });

async function apply(em: EntityManager, { name, text }: { name: string; text: string }): Promise<void> {
  await em.execute(text);
  await em.execute(`comment on function ${quoted(name)} is '${digestOf(text)}'`);
}
