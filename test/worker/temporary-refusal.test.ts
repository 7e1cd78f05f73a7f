import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { recordFlush } from '../../src/worker/handlers/answers.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';

test('an answer that the database refuses only three times is stored', async () => {
  await using database = await createDatabase();
  await database.query(`
    create sequence refusals;
    create function refuse() returns trigger language plpgsql security definer as $$
      begin
        if nextval('refusals') <= 3 then raise exception 'not now' using errcode = '22000'; end if;
        return new;
      end
    $$;
    create trigger refuse before insert on answers for each row execute function refuse()`);
  const flush = { flush: v7(), answers: [anAcceptedAnswer()] };
  const counts = await recordFlush(database.storage('parley_worker'), flush);
  expect(counts).toEqual({ stored: 1, repeated: 0, quarantined: 0 });
  expect((await database.query('select last_value::int from refusals'))[0]).toEqual({ last_value: 5 });
});
