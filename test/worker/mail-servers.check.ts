import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, environmentOf, type TestApi, type TestApiOptions, waitFor } from '../support/api.ts';
import { makeCertificate } from '../support/certificates.ts';
import { startMailing } from '../support/mail.ts';
import { makeTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { hasTool, installPython } from '../support/tools.ts';

const FOLDER = new URL('mail-server/', import.meta.url).pathname;
const MAIL_FROM = 'Parley <parley@acme.example>';
const hasPython = await hasTool(['python3', '-m', 'pip', '--version'], 'mails to real mail servers');

interface AcceptedMail {
  to: string[];
  ehlo: string;
  tls: boolean;
  text: string;
}

describe.runIf(hasPython)('a mail reaches a server (aiosmtpd)', () => {
  let packages: string;
  beforeAll(async () => {
    packages = await mkdtemp(join(tmpdir(), 'parley-mail-servers-'));
    await installPython(packages, join(FOLDER, 'requirements.txt'));
  });
  afterAll(() => rm(packages, { recursive: true }));

  async function startServer(...args: string[]) {
    const server = spawn('python3', [join(FOLDER, 'server.py'), ...args], {
      env: { PATH: process.env.PATH, PYTHONPATH: packages },
      stdio: ['ignore', 'pipe', 'ignore'], // it logs each broken connection,
    });
    let output = '';
    server.stdout.on('data', chunk => (output += chunk));
    const lines = () => output.split('\n').slice(0, -1);
    const port = await waitFor(() => lines()[0]);
    return {
      host: `127.0.0.1:${port}`,
      accepted: () =>
        lines()
          .slice(1)
          .map(line => JSON.parse(line) as AcceptedMail),
      async [Symbol.asyncDispose]() {
        server.kill();
        await once(server, 'exit');
      },
    };
  }

  const startApi = (SMTP_URL: string, settings: TestApiOptions['settings'] = {}) =>
    createApi({ settings: { SMTP_URL, MAIL_FROM, ...settings } });

  async function invite(api: TestApi, count = 1) {
    const admin = await makeMember(api, await makeTenant(api), 'admin');
    for (let index = 0; index < count; index++) {
      const body = { email: `nora-${index}@acme.example`, role: 'agent' };
      expect((await api.request('POST', '/v1/members', { headers: admin.headers, body })).status).toBe(201);
    }
    return async () =>
      (await api.request('GET', '/v1/members/invitations', { headers: admin.headers })).body.data.map(
        ({ mail }: { mail: { status: string; error: string | null } }) => mail,
      );
  }

  test('that greylists, at the second attempt, ten seconds later', async () => {
    await using server = await startServer('greylist');
    await using api = await startApi(`smtp://${server.host}`);
    const states = await invite(api);
    await using _ = startMailing(api);
    const greylisted = '450 4.2.0 <nora-0@acme.example>: Recipient address rejected: Greylisted';
    await waitFor(async () => (await states())[0].error === greylisted);
    expect(await states()).toMatchObject([{ status: 'queued' }]);
    await waitFor(async () => (await states())[0].status === 'sent', 30_000); // in real time
    const [mail] = server.accepted();
    expect(mail).toMatchObject({ to: ['nora-0@acme.example'], ehlo: 'parley.test', tls: false });
    expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  });

  test('that throttles with 421 and 451, each mail once', async () => {
    await using server = await startServer('throttle');
    await using api = await startApi(`smtp://${server.host}`);
    const states = await invite(api, 4);
    await using worker = startMailing(api);
    await waitFor(async () => {
      worker.pass(5000);
      return (await states()).every(({ status }: { status: string }) => status === 'sent');
    }, 60_000);
    expect(
      server
        .accepted()
        .map(({ to }) => to[0])
        .toSorted(),
    ).toEqual([0, 1, 2, 3].map(n => `nora-${n}@acme.example`));
  });

  test('that greets only after twelve seconds', async () => {
    await using server = await startServer('slow');
    await using api = await startApi(`smtp://${server.host}`);
    await invite(api);
    await using worker = startMailing(api);
    await waitFor(() => server.accepted().length === 1);
    await waitFor(async () => (await worker.metrics.mails.get()).values.length > 0);
    expect((await worker.metrics.mails.get()).values).toMatchObject([{ labels: { outcome: 'sent' }, value: 1 }]);
  });

  test('that accepts two connections of a client at a time, without being refused', async () => {
    await using server = await startServer('few');
    await using api = await startApi(`smtp://${server.host}`);
    for (let tenant = 0; tenant < 5; tenant++) await invite(api, 2);
    await using worker = startMailing(api);
    await waitFor(() => server.accepted().length === 10);
    expect((await worker.metrics.mails.get()).values.map(({ labels }) => labels.outcome)).toEqual(['sent']);
  });

  test('that requires STARTTLS with its own certificate only if that is trusted, and logs in', async () => {
    await using certificate = await makeCertificate();
    await using server = await startServer('login', certificate.file, certificate.file.replace('cert.pem', 'key.pem'));
    const url = `smtp://parley:pa%3Ass%2Fw%40rd@${server.host}`;
    await using api = await startApi(url);
    const states = await invite(api);
    {
      await using _ = startMailing(api);
      await waitFor(async () => (await states())[0].error === 'DEPTH_ZERO_SELF_SIGNED_CERT');
      expect(server.accepted()).toEqual([]);
    }
    const environment = { ...environmentOf(api), SMTP_URL: url, MAIL_FROM, BASE_URL: 'https://parley.test' };
    const trusting = { ...environment, NODE_EXTRA_CA_CERTS: certificate.file };
    const doctorSays = async (settings: Record<string, string>) =>
      JSON.parse((await runCommand(['doctor'], settings)).stdout).checks.find(
        ({ name }: { name: string }) => name === 'mail',
      );
    expect(await doctorSays(environment)).toMatchObject({
      ok: false,
      mend: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    expect(await doctorSays({ ...trusting, SMTP_URL: url.replace('rd@', 'rong@') })).toMatchObject({
      ok: false,
      detail: expect.stringContaining('535 5.7.8'),
    });
    expect(await doctorSays(trusting)).toMatchObject({ ok: true });
    await using _worker = await startProcess('work', trusting);
    await waitFor(async () => (await states())[0].status === 'sent', 60_000);
    expect(server.accepted()).toMatchObject([{ tls: true, ehlo: 'parley.test' }]);
  });
});
