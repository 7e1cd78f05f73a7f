import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { deleteAnswer } from '../../../src/storage/answers/answers.ts';
import { waitFor } from '../../support/api.ts';
import { createDatabase } from '../../support/database.ts';
import { anAcceptedAnswer } from '../../support/make.ts';
import { recordingOf } from '../../support/recording.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const { app, record, rowsOf, totalsOf } = recordingOf(database);

describe('a deleted answer', () => {
  test('stays deleted, whatever is sent later with its id', async () => {
    const answer = anAcceptedAnswer({ state: 'partial' });
    await record(answer);
    await deleteAnswer(app.forTenant(answer.tenant_id), answer.id, () => undefined);
    for (const revision of [1, 2, 3])
      expect(await record({ ...answer, revision })).toEqual({ stored: 0, repeated: 1, quarantined: 0 });
    expect(await record({ ...answer, identity: 'user|43' })).toEqual({ stored: 0, repeated: 1, quarantined: 0 });
    expect(await rowsOf(answer.tenant_id)).toEqual([]);
  });

  test('stays deleted when a newer revision waits for the lock of the deletion', async () => {
    const answer = anAcceptedAnswer({ state: 'partial' });
    await record(answer);
    const deletion = new Client({ connectionString: database.url });
    await deletion.connect();
    await deletion.query('begin');
    await deletion.query('delete from answers where id = $1', [answer.id]);
    await deletion.query('insert into deleted_answers values ($1, $2, now())', [answer.tenant_id, answer.id]);
    const recording = record({ ...answer, revision: 2 });
    await waitFor(async () => {
      const [waiting] = await database.query<{ count: string }>(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return Number(waiting?.count) > 0;
    });
    await deletion.query('commit');
    await deletion.end();
    await recording;
    expect(await rowsOf(answer.tenant_id)).toEqual([]);
    expect(await totalsOf(answer.tenant_id)).toMatchObject({ quarantined: 0 });
  });

  test('stays deleted when revisions race with deletions', async () => {
    const answers = Array.from({ length: 30 }, () => anAcceptedAnswer({ state: 'partial' }));
    await record(...answers);
    await Promise.all(
      answers.flatMap(answer => [
        record({ ...answer, revision: 2 }),
        deleteAnswer(app.forTenant(answer.tenant_id), answer.id, () => undefined),
      ]),
    );
    const left = await database.query('select id from answers where id = any($1)', [answers.map(({ id }) => id)]);
    expect(left).toEqual([]);
  });
});
