import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createLog } from '../../src/platform/log.ts';
import { openOrm } from '../../src/storage/orm.ts';
import { createEmptyDatabase } from './database.ts';

const log = createLog('silent', 'test');

/** A connection of the owner, closed at the end of the scope. */
export async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** A database of the version before results: one tenant with a question, and answers on several days. */
export async function createUncounted(days: string[]) {
  const database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261124-accounts' });
  await orm.close(true);
  const owner = await connect(database.url);
  const [tenant, question] = [randomUUID(), randomUUID()];
  await owner.query(
    `insert into questions (tenant_id, id, name, status, version, type, title, description, config, frequency,
       allow_public, priority, created_at, updated_at)
     values ($1, $2, 'x', 'live', 1, 'nps', 'x', '', '{}', '{}', false, 0, now(), now())`,
    [tenant, question],
  );
  const addAnswer = (day: string) =>
    owner.query(
      `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
         state, "values", metadata, content_hash, received_at, stored_at, updated_at, tags)
       values ($1, gen_random_uuid(), 'ada', true, gen_random_uuid(), $2, 1, 1, 'completed', '{"main": 9}', '{}', '',
         $3::date, now(), now(), '{}')`,
      [tenant, question, day],
    );
  for (const day of days) await addAnswer(day);
  const counts = async () =>
    (await owner.query('select day::text, completed from question_results order by day')).rows as {
      day: string;
      completed: number;
    }[];
  return {
    ...{ url: database.url, owner, addAnswer, counts },
    async [Symbol.asyncDispose]() {
      await owner.end();
      await database[Symbol.asyncDispose]();
    },
  };
}
