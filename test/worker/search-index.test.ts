import { v7 } from 'uuid';
import { expect, test } from 'vitest';
import { listAnswers } from '../../src/storage/answers.ts';
import { recordAnswers } from '../../src/storage/recording.ts';
import { isIndexed } from '../../src/storage/search-index.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, makeTenant, storageOf } from '../support/make.ts';

test('a worker indexes unindexed texts, including later ones of the previous version', async () => {
  await using api = await createApi();
  const tenant = storageOf(api).forTenant((await makeTenant(api)).uuid);
  const answer = anAcceptedAnswer({ tenant_id: tenant.tenantId, comment: 'Müller' });
  await recordAnswers(api.database.storage('parley_worker'), [{ flush: v7(), answers: [answer] }]);
  await api.database.query('delete from answer_words');
  await api.database.query(
    "insert into search_backlog values ($1, 'answer', 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff')",
    [tenant.tenantId],
  );
  await using _worker = await createWorker(api);
  await waitFor(() => isIndexed(tenant, ['answer']));
  expect((await listAnswers(tenant, { q: 'mueller' }, 10, null)).rows).toHaveLength(1);
  await api.database.query("update answers set comment = 'Schmidt' where id = $1", [answer.id]);
  await waitFor(() => isIndexed(tenant, ['answer']));
  expect((await listAnswers(tenant, { q: 'schmi' }, 10, null)).rows).toHaveLength(1);
  expect((await listAnswers(tenant, { q: 'mueller' }, 10, null)).rows).toEqual([]);
});
