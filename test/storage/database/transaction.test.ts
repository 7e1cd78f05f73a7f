import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { notFound } from '../../../src/domain/problem.ts';
import type { Storage } from '../../../src/storage/database/orm.ts';
import { findQuestion, insertQuestion, type NewQuestionRow } from '../../../src/storage/questions/questions.ts';
import { findTenant, insertTenant, updateTenant } from '../../../src/storage/tenants/tenants.ts';
import { createDatabase } from '../../support/database.ts';

const database = await createDatabase();
const storage = database.storage();
afterAll(() => database[Symbol.asyncDispose]());

const now = new Date();
const newTenant = async () => (await insertTenant(storage, 'Acme', now)).id;
const rename = (within: Storage, id: string, name: string) => updateTenant(within.forTenant(id), () => ({ name }));
const nameOf = async (id: string) => (await findTenant(storage.forTenant(id)))?.name;
const QUESTION: NewQuestionRow = {
  ...{ name: 'Q', type: 'nps', title: 'How likely?', description: '', config: {}, follow_ups: [], thanks: null },
  ...{
    locale: 'en',
    translations: {},
    frequency: {} as NewQuestionRow['frequency'],
    ...{ audience: null, start_at: null, end_at: null, trigger: null, sampling_percent: 100, response_limit: null },
    allow_public: false,
    priority: 0,
    placement: null,
  },
};
/** The number of connections to this database that are idle in a transaction. */
const idleInTransaction = async () =>
  (
    await database.query(
      "select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
    )
  ).length;

describe('all in one transaction', () => {
  test('is committed at the end, plain statements and units of work alike', async () => {
    const id = await newTenant();
    const question = await storage.inTransaction(async within => {
      await rename(within, id, 'Renamed');
      const made = await insertQuestion(within.forTenant(id), QUESTION, now);
      expect(await nameOf(id)).toBe('Acme');
      expect((await findTenant(within.forTenant(id)))?.name).toBe('Renamed');
      expect(await findQuestion(within.forTenant(id), made.id)).toMatchObject({ name: 'Q' });
      return made;
    });
    expect(await nameOf(id)).toBe('Renamed');
    const [row] = await database.query(
      'select tenants.xmin = questions.xmin as same from tenants, questions where tenants.id = $1 and questions.id = $2',
      [id, question.id],
    );
    expect(row).toEqual({ same: true });
  });

  test('is rolled back by any error, which is rethrown unchanged', async () => {
    const id = await newTenant();
    const work = storage.inTransaction(async within => {
      await rename(within, id, 'Renamed');
      await insertQuestion(within.forTenant(id), QUESTION, now);
      throw notFound('thing');
    });
    await expect(work).rejects.toMatchObject({ code: 'resource-not-found' });
    expect(await nameOf(id)).toBe('Acme');
    expect(await database.query('select from questions where tenant_id = $1', [id])).toEqual([]);
    expect(await idleInTransaction()).toBe(0);
  });

  test('is not committed after a statement failed, even if the error is ignored', async () => {
    const id = await newTenant();
    const work = storage.inTransaction(async within => {
      await rename(within, id, 'Renamed');
      await within
        .forTenant(id)
        .query('select 1 / 0')
        .catch(() => {});
    });
    await expect(work).rejects.toThrow('failed statement');
    expect(await nameOf(id)).toBe('Acme');
  });

  test('holds no connection before its first statement, and none at all without one', async () => {
    const id = await newTenant();
    await storage.inTransaction(async within => {
      expect(await idleInTransaction()).toBe(0);
      await rename(within, id, 'Renamed');
      expect(await idleInTransaction()).toBe(1);
    });
    expect(await storage.inTransaction(async () => 'nothing')).toBe('nothing');
    expect(await idleInTransaction()).toBe(0);
  });

  test('sees only the rows of the tenant or person of each part', async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const count = 'select count(*)::int as count from tenants';
    await storage.inTransaction(async within => {
      for (const id of [one, other]) {
        await rename(within, id, `Renamed ${id}`);
        expect(await within.forTenant(id).query(count)).toEqual([{ count: 1 }]);
      }
      expect(await within.forTenant(randomUUID()).query(count)).toEqual([{ count: 0 }]);
      const seen = await within.forAccount(randomUUID()).transaction(session => session.query(count));
      expect(seen).toEqual([{ count: 0 }]);
    });
    expect([await nameOf(one), await nameOf(other)]).toEqual([`Renamed ${one}`, `Renamed ${other}`]);
  });

  test('rejects concurrent scopes on its one connection, and use after its end', async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const both = storage.inTransaction(within =>
      Promise.all([rename(within, one, 'Renamed'), rename(within, other, 'Renamed')]),
    );
    await expect(both).rejects.toThrow('scoped to two tenants');
    expect([await nameOf(one), await nameOf(other)]).toEqual(['Acme', 'Acme']);
    const kept = await storage.inTransaction(async within => within);
    await expect(rename(kept, one, 'Late')).rejects.toThrow('has ended');
  });

  test('within another is that other', async () => {
    const id = await newTenant();
    const work = storage.inTransaction(async outer => {
      await outer.inTransaction(inner => rename(inner, id, 'Renamed'));
      throw notFound('thing');
    });
    await expect(work).rejects.toMatchObject({ code: 'resource-not-found' });
    expect(await nameOf(id)).toBe('Acme');
  });

  test('started concurrently many times shares the available connections', async () => {
    const id = await newTenant();
    const renamed = Array.from({ length: 30 }, (_, index) =>
      storage.inTransaction(async within => {
        await rename(within, id, `Name ${index}`);
        await findTenant(within.forTenant(id));
      }),
    );
    await Promise.all(renamed);
    expect(await nameOf(id)).toMatch(/^Name \d+$/);
    expect(await idleInTransaction()).toBe(0);
  });
});
