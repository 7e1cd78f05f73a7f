import { afterAll, expect, test, vi } from 'vitest';
import { createBatchedLookup } from '../../src/api/credentials/batched-lookup.ts';
import { createKeyRing } from '../../src/api/credentials/key-ring.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { newUuid } from '../../src/domain/ids.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { sha256 } from '../../src/platform/secrets.ts';
import { type FoundSession, findSessions, type WantedSession } from '../../src/storage/team/sessions.ts';
import { createApi } from '../support/api.ts';
import { makeTenant, uuidOfKey } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
const storage = api.database.storage();
const query = vi.spyOn(storage, 'query');
const statements = (text: string) => query.mock.calls.filter(([sql]) => sql.includes(text)).length;
afterAll(() => api[Symbol.asyncDispose]());

test('a flood of made-up keys needs few statements, and a real key among them is found', async () => {
  const log = createLog('silent', 'test');
  const notices = openNotices(api.databaseUrl, undefined, log);
  const ring = createKeyRing({ storage, notices, keychain: api.keychain, log, caches: createCaches() });
  const real = uuidOfKey((await makeTenant(api)).key);
  const ids = [...Array.from({ length: 1000 }, newUuid), real, ...Array.from({ length: 1000 }, newUuid)];
  const found = await Promise.all(ids.map(id => ring.find(id)));
  expect(found.flatMap(key => key?.row.id ?? [])).toEqual([real]);
  expect(statements('find_api_keys')).toBeLessThanOrEqual(6);
  await ring.close();
  await notices.close();
});

test('many sessions are found at once, each for its own token and tenant', async () => {
  const [first, second] = [await makeTenant(api), await makeTenant(api)];
  const people = [await makeMember(api, first, 'owner'), await makeMember(api, second, 'agent')];
  const wantedBy = (cookie: string, tenantId: string | null): WantedSession => ({
    tokenHash: sha256(cookie.split('=')[1] as string),
    tenantId,
  });
  const [one, other] = people.map(({ headers }) => headers.Cookie as string) as [string, string];
  const find = createBatchedLookup<WantedSession, FoundSession>(
    'test',
    wanted => findSessions(storage, wanted),
    undefined,
  );
  const wanted = [
    wantedBy(one, first.uuid),
    ...Array.from({ length: 400 }, () => wantedBy(`made-up=${newUuid()}`, first.uuid)),
    wantedBy(one, second.uuid),
    wantedBy(other, second.uuid),
    wantedBy(other, null),
  ];
  const found = (await Promise.all(wanted.map(find))).filter(session => session !== undefined);
  expect(found.map(({ account_id, role }) => [account_id, role])).toEqual([
    [people[0]?.accountId, 'owner'],
    [people[0]?.accountId, null],
    [people[1]?.accountId, 'agent'],
    [people[1]?.accountId, null],
  ]);
  expect(statements('find_sessions')).toBeLessThanOrEqual(3);
});
