/**
 * Measures the pages of the dashboard with a large tenant: `node bench/dashboard/run.ts [file]`.
 *
 * Starts Parley with a fresh database, stores 10,000 answers through the API, seeds 5,000 conversations and a thread of
 * 2,600 messages, and opens each page in Chromium. Writes the table to the file, by default to `bench/results`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { BASE } from '../../dashboard/paths.ts';
import { parseTypeId } from '../../src/domain/ids.ts';
import { BUILD } from '../../src/platform/build-info.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { openBrowser } from '../../test/support/chromium.ts';
import { startEmbedded } from '../../test/support/installation.ts';
import { SEED_CONVERSATIONS, SEED_THREAD } from '../../test/support/large-tenant.ts';
import { asBearer, asPerson, setUp } from '../../test/support/team.ts';
import { waitFor } from '../../test/support/wait.ts';
import { describeMachine } from '../cpu.ts';
import { type Figures, measurePage, measureReplies, pagesToMeasure, type Seeded } from './measure.ts';

const ANSWERS = 10_000;
const CONVERSATIONS = 5000;
const MESSAGES = 2600;
const PER_REQUEST = 100;

const target = resolve(
  process.argv[2] ?? join(import.meta.dirname, '../results', `${new Date().toISOString().slice(0, 10)}.dashboard.md`),
);

/** Stores the answers through the API, a twentieth of them by one person. */
async function storeAnswers(page: Page, baseUrl: string): Promise<string> {
  const key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'bench', kind: 'server' });
  const question = { type: 'nps', title: 'How likely?', frequency: { repeat: 'always', ignore_cooldown: true } };
  const { id } = await asPerson(page, 'POST', '/v1/questions', question);
  await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
  const answer = (at: number) => ({
    id: crypto.randomUUID(),
    identity: at % 20 === 0 ? 'ux|1' : `many|${at % 4000}`,
    revision: 1,
    question_id: id,
    question_version: 1,
    state: 'completed',
    values: { main: at % 11 },
    ...(at % 3 === 0 ? { comment: `Comment ${at}, in a few words of my own` } : {}),
  });
  for (let sent = 0; sent < ANSWERS; sent += PER_REQUEST)
    await asBearer(baseUrl, key.api_key, 'POST', '/v1/answers', {
      answers: Array.from({ length: PER_REQUEST }, (_, at) => answer(sent + at)),
    });
  await waitFor(async () => (await asPerson(page, 'GET', '/v1/ingestion')).stored === ANSWERS, 120_000);
  return id;
}

async function seed(page: Page, baseUrl: string, folder: string): Promise<Seeded> {
  const questionId = await storeAnswers(page, baseUrl);
  const started = { identity: 'ux|1', message: 'Message 1' };
  const { id } = await asPerson(page, 'POST', '/v1/conversations', started);
  const { port, password } = JSON.parse(await readFile(join(folder, 'postgres.json'), 'utf8'));
  await withClient(`postgresql://parley:${password}@127.0.0.1:${port}/parley`, async client => {
    await client.query(SEED_CONVERSATIONS, [CONVERSATIONS]);
    await client.query(SEED_THREAD, [parseTypeId('conversation', id), MESSAGES]);
    await client.query('analyze');
  });
  return { questionId, conversationId: id, messages: MESSAGES };
}

const row = ({ page, shownMs, requests, idleShare, idleRequests, heapMb }: Figures): string =>
  `| ${page} | ${shownMs.toFixed(0)} | ${requests} | ${(idleShare * 100).toFixed(1)} | ${idleRequests} | ${heapMb.toFixed(1)} |`;

await using installation = await startEmbedded();
const { baseUrl, folder, setupLink } = installation;
const browser = await openBrowser();
try {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await setUp(page, setupLink);
  const seeded = await seed(page, baseUrl, folder);
  const rows: string[] = [];
  for (const measured of pagesToMeasure(seeded)) {
    rows.push(row(await measurePage(context, `${baseUrl}${BASE}`, measured)));
    process.stdout.write(`${rows.at(-1)}\n`);
  }
  const replies = await measureReplies(context, `${baseUrl}${BASE}`, seeded);
  process.stdout.write(`${replies}\n`);
  const text = `# The dashboard with ${ANSWERS} answers, ${CONVERSATIONS} conversations and a thread of ${MESSAGES}

Run of \`node bench/dashboard/run.ts\` of ${new Date().toISOString().slice(0, 10)}, commit ${BUILD.commit.slice(0, 7)}, on ${describeMachine()}.
Chromium, API, worker and PostgreSQL share the machine. Times are from the click or the address to the content, with
the scripts in the cache of the browser. Idle: 10 s without input, in percent of a core, with the requests for the API.
Heap: after a garbage collection.

| Page | shown (ms) | requests | idle (%) | requests idle | heap (MB) |
|---|---|---|---|---|---|
${rows.join('\n')}

${replies}
`;
  await writeFile(target, text);
} finally {
  await browser.close();
}
