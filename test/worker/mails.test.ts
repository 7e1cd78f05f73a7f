import dns from 'node:dns';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { mailServerOf } from '../../src/platform/mail.ts';
import { insertMail } from '../../src/storage/team/mails.ts';
import { createRetention } from '../../src/worker/retention.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/clock.ts';
import { createMailServer, readQueuedMails, startMailing, type TestMailServer } from '../support/mail.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

/** A worker counts an outcome after it has recorded it. */
const POLL = { timeout: 60_000, interval: 20 };

let server: TestMailServer;
let api: TestApi;
let tenant: TestTenant;
let admin: TestPerson;
beforeEach(async () => {
  server = await createMailServer();
  api = await createApi({ settings: { SMTP_URL: server.url, MAIL_FROM: 'Parley <parley@acme.example>' } });
  tenant = await makeTenant(api);
  admin = await makeMember(api, tenant, 'admin');
});
afterEach(async () => {
  await api[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const invite = async (email = 'nora@acme.example') => {
  const reply = await api.request('POST', '/v1/members', { headers: admin.headers, body: { email, role: 'agent' } });
  expect(reply).toMatchObject({ status: 201, body: { mail: 'queued' } });
  return reply.body;
};
const askForReset = async (email = admin.email) =>
  expect((await api.request('POST', '/v1/password-resets', { body: { email } })).status).toBe(202);
const listInvitations = async () =>
  (await api.request('GET', '/v1/members/invitations', { headers: admin.headers })).body.data;
/** The state of the only invitation's mail. */
const mailState = async () => (await listInvitations())[0].mail;
const failed = (error?: string) =>
  waitFor(async () => {
    const state = await mailState();
    return state.error !== null && (error === undefined || state.error === error) && state;
  });
const attempts = async () =>
  (await api.database.query<{ attempts: number }>('select attempts from mails order by id')).map(row => row.attempts);
const outcomes = async ({ metrics }: ReturnType<typeof startMailing>) =>
  Object.fromEntries((await metrics.mails.get()).values.map(({ labels, value }) => [labels.outcome, value]));

describe('a mail', () => {
  test('is queued with its text encrypted, and sent by a worker; the invitation shows both', async () => {
    await invite();
    expect(await mailState()).toMatchObject({ status: 'queued', error: null });
    const [row] = await api.database.query<{ row: string }>('select mails::text as row from mails');
    expect(row?.row).toContain('nora@acme.example');
    expect(row?.row).not.toMatch(/token|invited/);
    expect((await readQueuedMails(api))[0]?.text).toMatch(/#token=[\w-]{43}\n/);
    await using worker = startMailing(api);
    await waitFor(async () => (await mailState()).status === 'sent');
    expect(server.letters).toHaveLength(1);
    await expect.poll(() => outcomes(worker), POLL).toEqual({ sent: 1 });
    expect(await api.database.query('select status, letter_sealed from mails')).toEqual([
      { status: 'sent', letter_sealed: null },
    ]);
  });

  test('names its sender as the host of BASE_URL, and is marked as automatic', async () => {
    await invite();
    await using _ = startMailing(api);
    await waitFor(() => server.letters.length === 1);
    expect(server.commands[0]).toBe('EHLO parley.test');
    expect(server.letters[0]).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(server.letters[0]).toMatch(/^Message-ID: <[\w-]{36}@parley.test>$/m);
  });

  test.each([
    ['https://feedback.acme.example', 'feedback.acme.example'],
    ['http://localhost:3000', 'localhost'],
    ['http://192.0.2.7:3000', '[192.0.2.7]'],
    ['http://[2001:db8::7]:3000', '[IPv6:2001:db8::7]'],
  ])('of %s comes from %s', async (BASE_URL, name) => {
    await mailServerOf({ SMTP_URL: server.url, MAIL_FROM: 'parley@acme.example', BASE_URL })?.greet();
    expect(server.commands[0]).toBe(`EHLO ${name}`);
  });
});

describe('the mail server', () => {
  const BASE_URL = 'https://parley.test';
  const openServer = (SMTP_URL: string, MAIL_FROM = 'parley@acme.example') => {
    const opened = mailServerOf({ SMTP_URL, MAIL_FROM, BASE_URL });
    if (!opened) throw new Error('no mail server is configured');
    return opened;
  };
  const mail = { id: '1', to: 'nora@acme.example', subject: 'x', text: 'y' };

  test('is at the address of the hosts file, even if the name servers have another', async () => {
    const asked = vi
      .spyOn(dns.Resolver.prototype, 'resolve4')
      .mockImplementation(((_host: string, reply: (error: null, addresses: string[]) => void) =>
        reply(null, ['192.0.2.1'])) as never);
    const hosts = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_host: string, _options: object, reply: (error: null, addresses: object[]) => void) =>
        reply(null, [{ address: '127.0.0.1', family: 4 }])) as never);
    try {
      await openServer(server.url.replace('127.0.0.1', 'mail.acme.example')).greet();
    } finally {
      asked.mockRestore();
      hosts.mockRestore();
    }
    expect(server.commands[0]).toBe('EHLO parley.test');
  });

  test('gets no password without encryption, unless SMTP_URL allows it', async () => {
    server.react(command => {
      if (command.startsWith('EHLO')) return '250-test\r\n250 AUTH PLAIN';
      if (command === 'STARTTLS') return '502 5.5.1 not implemented';
      return command.startsWith('AUTH') ? '235 2.7.0 accepted' : undefined;
    });
    const url = server.url.replace('//', '//parley:secret@');
    const signal = new AbortController().signal;
    const refused = { message: 'STARTTLS: 502 5.5.1 not implemented', isPermanent: false };
    await expect(openServer(url).send(mail, signal)).rejects.toMatchObject(refused);
    expect(server.commands).toEqual(['EHLO parley.test', 'STARTTLS']);
    await openServer(`${url}?requireTLS=false`).send(mail, signal);
    expect(server.commands).toContainEqual(expect.stringMatching(/^AUTH PLAIN /));
  });

  test.each([
    ['Acme, Inc. <parley@acme.example>', 'From: "Acme, Inc." <parley@acme.example>'],
    ['Bücher <parley@acme.example>', 'From: =?UTF-8?Q?B=C3=BCcher?= <parley@acme.example>'],
  ])('gets a single sender from MAIL_FROM=%s', async (from, header) => {
    await openServer(server.url, from).send(mail, new AbortController().signal);
    expect(server.commands).toContain('MAIL FROM:<parley@acme.example>');
    expect(server.letters[0]?.split('\n')).toContain(header);
  });
});

describe('a mail that is not accepted', () => {
  test('is sent after greylisting, and the invitation has the reason meanwhile', async () => {
    server.react(command => (command.startsWith('RCPT') ? '450 4.2.0 <nora@acme.example> Greylisted' : undefined));
    await invite();
    await using worker = startMailing(api);
    const state = await failed('450 4.2.0 <nora@acme.example> Greylisted');
    expect(state.status).toBe('queued');
    worker.pass(9 * SECOND);
    expect(await attempts()).toEqual([1]);
    server.react(() => undefined);
    worker.pass(3 * SECOND);
    expect(await waitFor(async () => (await mailState()).status === 'sent' && mailState())).toMatchObject({
      error: null,
    });
    await expect.poll(() => outcomes(worker), POLL).toEqual({ deferred: 1, sent: 1 });
  });

  test('is tried after 10 s, 1, 5 and 15 min, then every 30 min, each a little later, until its link expires', async () => {
    server.react(command => (command.startsWith('MAIL') ? '451 4.7.1 try again later' : undefined));
    await askForReset();
    await using worker = startMailing(api);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      await waitFor(async () => (await attempts())[0] === attempt);
      const [row] = await waitFor(async () => {
        const rows = await api.database.query<{ due_at: Date | null; status: string; error: string }>(
          'select due_at, status, error from mails where error is not null',
        );
        return rows.length > 0 && rows;
      });
      if (row?.status === 'failed') break;
      const wait = (row?.due_at?.getTime() ?? 0) - Date.now() - waits.reduce((sum, ms) => sum + ms, 0);
      waits.push(wait);
      await api.database.query('update mails set error = null');
      worker.pass(wait);
    }
    const bounds = [10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE];
    expect(waits).toHaveLength(bounds.length);
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan((bounds[index] as number) - 5 * SECOND);
      expect(wait).toBeLessThan((bounds[index] as number) * 1.1 + 5 * SECOND);
    }
    await waitFor(async () => (await outcomes(worker)).failed === 1); // a further attempt would be after the hour of the link
    expect(await api.database.query('select status, error, letter_sealed from mails')).toEqual([
      { status: 'failed', error: '451 4.7.1 try again later', letter_sealed: null },
    ]);
  });

  test('for good fails at once', async () => {
    server.react(command => (command.startsWith('RCPT') ? '550 5.1.1 user\u0007 unknown' : undefined));
    await invite();
    await using worker = startMailing(api);
    expect(await failed()).toMatchObject({ status: 'failed', error: '550 5.1.1 user unknown' });
    await expect.poll(() => outcomes(worker), POLL).toEqual({ failed: 1 });
  });

  test.each([
    ['at the greeting', 'greeting', '554 5.3.2 not now'],
    ['at EHLO and HELO', 'EHLO parley.test', '502 no'],
    ['for want of a login', 'MAIL FROM:<parley@acme.example>', '530 5.7.0 Authentication required'],
  ])('%s is no fault of the mail, and is tried again', async (_what, command, reply) => {
    server.react(given => (given === command || given === command.replace('EHLO', 'HELO') ? reply : undefined));
    await invite();
    await using _ = startMailing(api);
    expect((await failed()).status).toBe('queued');
  });

  test('after its text is tried again, under the same Message-ID', async () => {
    server.react(command => (command === 'end' ? '421 4.3.0 restarting' : undefined));
    await invite();
    await using worker = startMailing(api);
    await failed();
    server.react(() => undefined);
    worker.pass(20 * SECOND);
    await waitFor(() => server.letters.length === 1);
    const [row] = await api.database.query<{ id: string }>('select id from mails');
    expect(server.letters[0]).toContain(`<${row?.id}@parley.test>`);
  });

  test('by a server that is down is sent once it is up, and one that never greets does not stop the worker', async () => {
    const { port } = new URL(server.url);
    await server[Symbol.asyncDispose]();
    await invite();
    await using worker = startMailing(api);
    expect(await failed('ECONNREFUSED')).toMatchObject({ status: 'queued' });
    const sockets: { destroy(): void }[] = [];
    const silent = createServer(socket => void sockets.push(socket)).listen(Number(port), '127.0.0.1');
    worker.pass(20 * SECOND);
    await waitFor(() => sockets.length === 1);
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => silent.close(resolve));
    server = await createMailServer(Number(port));
    await waitFor(async () => (await mailState()).error !== 'ECONNREFUSED');
    worker.pass(2 * MINUTE);
    await waitFor(() => server.letters.length === 1);
  });

  test('by a worker without a mail server waits, with the reason', async () => {
    await invite();
    await using _ = startMailing({ ...api, config: { ...api.config, SMTP_URL: undefined } });
    expect(await failed('SMTP_URL is not set in the worker')).toMatchObject({ status: 'queued' });
  });

  test('by a worker that dies is sent by another one', async () => {
    await invite();
    await api.database.query("update mails set attempts = 1, due_at = now() + interval '5 minutes'"); // as leased
    await using worker = startMailing(api);
    worker.pass(6 * MINUTE);
    await waitFor(() => server.letters.length === 1);
    expect(await attempts()).toEqual([2]);
  });
});

describe('a mail is not sent', () => {
  test('after its link expired', async () => {
    await askForReset();
    await waitFor(async () => (await attempts()).length === 1);
    await using worker = startMailing(api, () => new Date(Date.now() + HOUR));
    await waitFor(async () => (await outcomes(worker)).failed === 1);
    expect(await api.database.query('select status, error from mails')).toEqual([
      { status: 'failed', error: 'expired' },
    ]);
    expect(server.letters).toEqual([]);
  });

  test('if its invitation was revoked, accepted or replaced, nor if its reset was', async () => {
    const accept = async ({ link }: { link: string }) =>
      api.request('POST', `/v1/invitations/${link.split('#token=')[1]}/accept`, {
        body: { name: 'Max', password: 'a very long password' },
      });
    const revoked = await invite('revoked@acme.example');
    await api.request('DELETE', `/v1/members/invitations/${revoked.id}`, { headers: admin.headers });
    expect((await accept(await invite('accepted@acme.example'))).status).toBe(200);
    await invite('replaced@acme.example');
    const replacing = await invite('replaced@acme.example');
    await askForReset();
    await askForReset();
    await waitFor(async () => (await readQueuedMails(api)).length === 2);
    const [row] = await api.database.query<{ id: string }>('select id from invitations');
    expect(await api.database.query("select invitation_id from mails where kind = 'invitation'")).toEqual([
      { invitation_id: row?.id },
    ]);
    expect((await listInvitations())[0].id).toBe(replacing.id);
  });

  test('once its tenant is deleted', async () => {
    await invite();
    await storageOf(api).forTenant(tenant.uuid).query('select delete_tenant()');
    await askForReset((await makeMember(api, await makeTenant(api), 'owner')).email);
    await using _ = startMailing(api);
    await waitFor(() => server.letters.length === 1);
    expect(server.letters[0]).toContain('Reset your password');
  });
});

test('several workers send each mail once, and a tenant with many does not delay another', async () => {
  const other = await makeTenant(api);
  const storage = storageOf(api);
  const queue = (tenantId: string, to: string) =>
    storage.forTenant(tenantId).transaction(async tx => {
      const expiresAt = new Date(Date.now() + DAY);
      const mail = { tenantId, kind: 'notice', to, subject: 'x', text: 'y', expiresAt } as const;
      await insertMail(tx, api.seals, mail, new Date());
    });
  for (let count = 0; count < 40; count++) await queue(tenant.uuid, `many-${count}@acme.example`);
  await queue(other.uuid, 'one@acme.example');
  await using first = startMailing(api);
  await using second = startMailing(api);
  await waitFor(() => server.letters.length === 41);
  expect(new Set(server.letters.map(letter => /^To: (.+)$/m.exec(letter)?.[1])).size).toBe(41);
  expect(server.letters.findIndex(letter => letter.includes('one@acme.example'))).toBeLessThan(12);
  await waitFor(async () => (await api.database.query('select from mails where due_at is not null')).length === 0);
  const sent = async () => ((await outcomes(first)).sent ?? 0) + ((await outcomes(second)).sent ?? 0);
  await expect.poll(sent, POLL).toBe(41);
});

test('the age of the oldest mail is a metric, and a mail is deleted a day after its outcome', async () => {
  await invite();
  await api.database.query(
    "update mails set created_at = now() - interval '100 seconds', due_at = now() + interval '1 day'",
  );
  await using worker = startMailing(api);
  expect(await worker.metrics.render()).toMatch(/^parley_mail_oldest_seconds 1\d\d/m);
  worker.pass(DAY + MINUTE);
  await waitFor(async () => (await mailState()).status === 'sent');
  const sweep = async (ageHours: number) => {
    await api.database.query('update mails set ended_at = now() - make_interval(hours => $1)', [ageHours]);
    const { metrics } = worker;
    const signal = new AbortController().signal;
    await createRetention({
      storage: api.database.storage('parley_worker'),
      metrics,
      log: createLog('silent', 'work'),
      signal,
    }).run();
    return (await api.database.query('select from mails')).length;
  };
  expect(await sweep(23)).toBe(1);
  expect(await sweep(25)).toBe(0);
  expect(await mailState()).toMatchObject({ status: 'sent' });
});
