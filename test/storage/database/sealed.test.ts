import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { withClient } from '../../../src/platform/postgres-client.ts';
import { createSeals, MAC_PURPOSES } from '../../../src/platform/secrets.ts';
import { readDerivedKeys } from '../../../src/storage/database/derived-keys.ts';
import { renewSealed, tallySealed } from '../../../src/storage/database/sealed.ts';
import { insertMail } from '../../../src/storage/team/mails.ts';
import { insertWebhook } from '../../../src/storage/webhooks/webhooks.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { newSecretKey } from '../../support/keychain.ts';
import { makeTenant } from '../../support/make.ts';
import { waitFor } from '../../support/wait.ts';

const [former, current] = [newSecretKey(), newSecretKey()];
const seals = {
  former: createSeals({ current: former, others: [] }),
  both: createSeals({ current, others: [former] }),
  current: createSeals({ current, others: [] }),
};

const exported = async (database: TestDatabase, by: ReturnType<typeof createSeals>) => {
  const keys = await readDerivedKeys(database.storage(), by);
  return MAC_PURPOSES.map(purpose => keys[purpose].export().toString('hex'));
};

/** One value in each sealed column, under the former key, and values that are not sealed. */
async function sealEverything(database: TestDatabase): Promise<void> {
  const tenant = await makeTenant({ database, seals: seals.former });
  await database.query('update api_keys set previous_secret_sealed = secret_sealed');
  const webhook = { url: 'https://hooks.acme.example', event_types: ['answer.stored' as const] };
  await insertWebhook(database.storage().forTenant(tenant.uuid), seals.former, webhook, new Date());
  await database.query('update webhooks set previous_secret_sealed = secret_sealed');
  const account = randomUUID();
  await database.query(
    `insert into accounts (id, email, name, totp_sealed, recovery_hashes, created_at)
     values ($1, 'ada@acme.example', 'Ada', $2, '{}', now())`,
    [account, seals.former.seal('JBSWY3DP', account)],
  );
  const reply = `sealed:${seals.former.seal(JSON.stringify({ secret: 'x'.repeat(200) }), account).toString('base64')}`;
  for (const [key, body] of [
    ['shown', reply],
    ['plain', '{"a":1}'],
    ['running', null],
  ])
    await database.query(
      `insert into idempotency_keys (tenant_id, credential_id, key, request_hash, body, created_at)
       values ($1, $2, $3, '', $4, now())`,
      [tenant.uuid, account, key, body],
    );
  const mail = { tenantId: tenant.uuid, kind: 'notice', to: 'ada@acme.example', subject: 'x', text: 'y' } as const;
  await database
    .storage()
    .forTenant(tenant.uuid)
    .transaction(tx => insertMail(tx, seals.former, { ...mail, expiresAt: new Date() }, new Date()));
  await readDerivedKeys(database.storage(), seals.former);
}

const SEALED = MAC_PURPOSES.length + 7;

describe('the rotation of sealed values', () => {
  test('moves every sealed column of every table to the current key, once, and nothing else', async () => {
    await using database = await createDatabase();
    await sealEverything(database);
    expect(await tallySealed(database.url, seals.both)).toEqual({
      byKey: [0, SEALED],
      unreadable: 0,
      isComplete: true,
    });
    expect(await renewSealed(database.url, seals.both)).toEqual({ renewed: SEALED, untouched: 0, unreadable: 0 });
    expect(await tallySealed(database.url, seals.current)).toMatchObject({ byKey: [SEALED], unreadable: 0 });
    expect(await renewSealed(database.url, seals.both)).toEqual({ renewed: 0, untouched: SEALED, unreadable: 0 });
    const [row] = await database.query<{ body: string; credential_id: string }>(
      "select body, credential_id from idempotency_keys where key = 'shown'",
    );
    const kept = Buffer.from((row?.body ?? '').slice('sealed:'.length), 'base64');
    expect(JSON.parse(seals.current.unseal(kept, row?.credential_id ?? '')).secret).toHaveLength(200);
    const others = await database.query("select body from idempotency_keys where key <> 'shown' order by key");
    expect(others).toEqual([{ body: '{"a":1}' }, { body: null }]);
  });

  test('covers every column of the schema', async () => {
    await using database = await createDatabase();
    const columns = await database.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and column_name like '%sealed' order by 1`,
    );
    expect(columns.map(({ name }) => name)).toEqual([
      'accounts.totp_sealed',
      'api_keys.previous_secret_sealed',
      'api_keys.secret_sealed',
      'lasting_keys.key_sealed',
      'mails.letter_sealed',
      'webhooks.previous_secret_sealed',
      'webhooks.secret_sealed',
    ]);
  });

  test('continues over several batches, values that no key opens, and a half-finished rotation', async () => {
    await using database = await createDatabase();
    const { uuid } = await makeTenant({ database, seals: seals.former });
    const rows = Array.from({ length: 450 }, (_, index) => {
      const id = randomUUID();
      const by =
        index < 150 ? seals.current : index < 160 ? createSeals({ current: newSecretKey(), others: [] }) : seals.former;
      return { id, sealed: by.seal('secret', id) };
    });
    await database.query(
      `insert into api_keys (tenant_id, id, name, kind, scopes, allowed_origins, secret_sealed, hint, created_at)
       select $1, id, 'key', 'public', '{}', '{}', sealed, '', now() from unnest($2::uuid[], $3::bytea[]) as new (id, sealed)`,
      [uuid, rows.map(({ id }) => id), rows.map(({ sealed }) => sealed)],
    );
    expect(await renewSealed(database.url, seals.both)).toEqual({ renewed: 291, untouched: 150, unreadable: 10 });
    expect(await tallySealed(database.url, seals.current)).toMatchObject({ byKey: [441], unreadable: 10 });
  });

  test('does not overwrite a value that was changed concurrently', async () => {
    await using database = await createDatabase();
    await makeTenant({ database, seals: seals.former });
    const theirs = Buffer.from('theirs');
    const renewal = await withClient(database.url, async client => {
      await client.query('begin');
      await client.query('update api_keys set secret_sealed = $1', [theirs]);
      const renewing = renewSealed(database.url, seals.both); // has read the previous value and waits for the row
      await waitFor(async () => {
        const waiting = await database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      await client.query('commit');
      return renewing;
    });
    expect(renewal).toEqual({ renewed: 0, untouched: 0, unreadable: 0 });
    expect(await database.query('select secret_sealed from api_keys')).toEqual([{ secret_sealed: theirs }]);
  });

  test('a user to whom row-level security applies rotates nothing, and counts a sample', async () => {
    await using database = await createDatabase();
    await sealEverything(database);
    const bound = new URL(database.url);
    bound.searchParams.set('options', '-c role=parley_app');
    await expect(renewSealed(bound.href, seals.both)).rejects.toThrow('Only the owner of the tables');
    const tally = await tallySealed(bound.href, seals.both);
    expect(tally).toMatchObject({ unreadable: 0, isComplete: false });
    expect(tally.byKey[1]).toBeGreaterThan(MAC_PURPOSES.length);
  });
});

describe('the derived keys', () => {
  test('stay the same when the secret key is rotated with the sealed values', async () => {
    await using database = await createDatabase();
    const before = await exported(database, seals.former);
    expect(before).toEqual(MAC_PURPOSES.map(purpose => seals.former.derive(purpose, 0).toString('hex')));
    expect(await exported(database, seals.both)).toEqual(before);
    await renewSealed(database.url, seals.both);
    expect(await exported(database, seals.current)).toEqual(before);
  });

  test('are those of the key of the stored secrets, even if another one is configured when they are created', async () => {
    await using database = await createDatabase();
    await makeTenant({ database, seals: seals.former });
    expect(await exported(database, seals.both)).toEqual(
      MAC_PURPOSES.map(purpose => seals.former.derive(purpose, 0).toString('hex')),
    );
  });

  test('are the same for all processes that create them concurrently', async () => {
    await using database = await createDatabase();
    const all = await Promise.all(
      [former, current].flatMap(key =>
        [1, 2, 3].map(() => exported(database, createSeals({ current: key, others: [former, current] }))),
      ),
    );
    expect(new Set(all.map(String)).size).toBe(1);
  });

  test('are neither created nor opened with secret keys that open no stored secret', async () => {
    await using database = await createDatabase();
    await makeTenant({ database, seals: seals.former });
    await expect(readDerivedKeys(database.storage(), seals.current)).rejects.toThrow('SECRET_KEY_OTHERS');
    expect(await database.query('select from lasting_keys')).toEqual([]);
    await exported(database, seals.former);
    await expect(readDerivedKeys(database.storage(), seals.current)).rejects.toThrow('SECRET_KEY_OTHERS');
  });
});
