/**
 * Pictures of every page, light and dark, at 1440 and 390 px: `npm run screenshots [-- folder]`.
 *
 * Starts a Parley of its own with a fresh database, lives through a first run in a browser, fills it as a small shop
 * would, and looks at each page. Needs Chromium (`CHROMIUM` names it, else it is where distributions put it).
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../test/support/chromium.ts';
import { freePort, startProcess } from '../test/support/process.ts';
import { asBearer, asPerson, type ShownKey, setUp, setupLinkIn, signToken } from '../test/support/team.ts';
import { waitFor } from '../test/support/wait.ts';
import { BASE, pathTo } from './paths.ts';

const FOLDER = resolve(process.argv[2] ?? 'screenshots');
const WIDTHS = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

const QUESTIONS = [
  {
    type: 'nps',
    title: 'How likely are you to recommend Nordlicht to a friend?',
    name: 'Recommendation',
    config: { labels: { low: 'Not at all', high: 'Very likely' } },
    frequency: { repeat: 'always', ignore_cooldown: true },
  },
  { type: 'csat', title: 'How was your last order?', name: 'After delivery', config: { style: 'smiley' } },
  {
    type: 'single_choice',
    title: 'What do you brew with?',
    name: 'Brewing',
    config: {
      options: [
        { id: 'filter', label: 'Hand filter' },
        { id: 'espresso', label: 'Espresso machine' },
        { id: 'press', label: 'French press' },
      ],
      allow_other: true,
    },
  },
];

const COMMENTS = [
  'Delivered a day early, and it smells wonderful.',
  'Good coffee, but the box was damaged.',
  'Could you offer smaller bags? 250 g would be perfect for me.',
  'The app forgets my grinder setting every time.',
  'Best espresso I have had at home.',
];

interface Seeded {
  questionId: string;
  draftId: string;
  conversationId: string;
}

/** Answers of sixty customers and a few conversations, as an app and a backend would send them. */
async function fill(page: Page, baseUrl: string): Promise<Seeded> {
  const me = (await asPerson(page, 'GET', '/v1/me')) as { account: { memberships: { tenant: { id: string } }[] } };
  const tenantId = me.account.memberships[0]?.tenant.id as string;
  const key = (await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' })) as ShownKey;
  await asPerson(page, 'POST', '/v1/api-keys', {
    name: 'iOS app',
    kind: 'public',
    allowed_origins: ['https://app.nordlicht.example'],
  });
  const asServer = (method: string, path: string, body?: unknown, bearer = key.api_key) =>
    asBearer(baseUrl, bearer, method, path, body);
  const sign = (identity: string) => signToken(key, tenantId, identity);

  const ids: string[] = [];
  for (const question of QUESTIONS) {
    const { id } = await asServer('POST', '/v1/questions', question);
    await asServer('POST', `/v1/questions/${id}/publish`);
    ids.push(id);
  }
  const questionId = ids[0] as string;
  const answers = Array.from({ length: 60 }, (_, at) => ({
    id: crypto.randomUUID(),
    identity: `customer|${1000 + at}`,
    revision: 1,
    question_id: questionId,
    question_version: 1,
    state: at % 4 === 3 ? 'dismissed' : 'completed',
    ...(at % 4 === 3 ? {} : { values: { main: [10, 9, 9, 8, 10, 7, 9, 10, 4, 6, 9][at % 11] } }),
    ...(at % 4 !== 3 && at % 3 === 0 ? { comment: COMMENTS[at % COMMENTS.length] } : {}),
  }));
  await asServer('POST', '/v1/answers', { answers });
  await asServer('PATCH', `/v1/questions/${questionId}`, { title: 'Would you recommend Nordlicht to a friend?' });
  const draft = await asServer('POST', '/v1/questions', {
    type: 'rating',
    title: 'How do you like the new grinder?',
    name: 'Grinder',
  });

  const first = await asServer(
    'POST',
    '/v1/conversations',
    { message: 'Where is my order? It was due on Tuesday.', subject: 'Order 4711' },
    await sign('customer|1007'),
  );
  await asServer('POST', `/v1/conversations/${first.id}/messages`, {
    body: 'Carrier says: held at the depot, out again tomorrow.',
    kind: 'note',
  });
  await asServer('POST', `/v1/conversations/${first.id}/messages`, {
    body: 'Sorry for the wait! It is at the depot and comes tomorrow before noon.',
  });
  await asServer(
    'POST',
    `/v1/conversations/${first.id}/messages`,
    { body: 'Thank you, tomorrow is fine.' },
    await sign('customer|1007'),
  );
  await asServer('PATCH', `/v1/conversations/${first.id}`, { tags: ['delivery'], priority: 'high' });
  for (const [at, message] of [
    'Do you have decaf in whole beans?',
    'My grinder setting is gone again.',
    'Can I change the address of my subscription?',
  ].entries())
    await asServer('POST', '/v1/conversations', { message }, await sign(`customer|${1010 + at}`));
  await waitFor(async () => (await asServer('GET', '/v1/ingestion')).stored === answers.length);
  return { questionId, draftId: draft.id, conversationId: first.id };
}

/** Every page and how it is called in the folder. */
const pagesOf = ({ questionId, draftId, conversationId }: Seeded): Record<string, string> => ({
  'getting-started': pathTo('home'),
  questions: pathTo('questions'),
  'question-new': pathTo('newQuestion'),
  'question-edit': pathTo('question', { id: draftId }),
  results: pathTo('questionResults', { id: questionId }),
  versions: pathTo('questionVersions', { id: questionId }),
  inbox: pathTo('inbox'),
  conversation: pathTo('conversation', { id: conversationId }),
  person: pathTo('identity', { identity: 'customer|1007' }),
  ingestion: pathTo('ingestion'),
  'settings-general': pathTo('general'),
  'settings-api-keys': pathTo('apiKeys'),
  'settings-members': pathTo('members'),
  'settings-security': pathTo('security'),
  'settings-audit-log': pathTo('auditLog'),
});

const FRONT_PAGES: Record<string, string> = {
  login: pathTo('login'),
  forgotten: pathTo('forgotten'),
  setup: `${pathTo('setup')}#token=example`,
  reset: `${pathTo('reset')}#token=example`,
};

/** Waits until nothing is on its way, then takes the picture of the whole page. */
async function shoot(page: Page, url: string, file: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await waitFor(async () => (await page.getByText('Loading…').count()) === 0);
  await page.waitForTimeout(400); // a chart is drawn in the frame after its library has come
  await page.screenshot({ path: join(FOLDER, `${file}.png`), fullPage: true });
}

type State = Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>;

async function shootAll(browser: Browser, baseUrl: string, pages: Record<string, string>, storageState?: State) {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries(WIDTHS)) {
      const context = await browser.newContext({ colorScheme, viewport, locale: 'en-GB', storageState });
      const page = await context.newPage();
      for (const [name, path] of Object.entries(pages))
        await shoot(page, `${baseUrl}${BASE}${path}`, `${name}-${size}-${colorScheme}`);
      await context.close();
    }
}

const folder = await mkdtemp(join(tmpdir(), 'parley-screenshots-'));
await chmod(folder, 0o755); // started by root, the embedded PostgreSQL runs as another user
const port = String(await freePort());
const baseUrl = `http://localhost:${port}`;
const server = await startProcess('start', { DATA_DIR: folder, PORT: port, BASE_URL: baseUrl, LOG_LEVEL: 'warn' });
const browser = await openBrowser();
try {
  await mkdir(FOLDER, { recursive: true });
  await server.awaitProbe('/readyz');
  await waitFor(async () => (await fetch(`${baseUrl}${BASE}/`)).ok, 120_000);
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await setUp(page, await waitFor(() => setupLinkIn(server.output())), 'Nordlicht Coffee', 'Ada Lindqvist');
  const seeded = await fill(page, baseUrl);
  await shootAll(browser, baseUrl, pagesOf(seeded), await context.storageState());
  await shootAll(browser, baseUrl, FRONT_PAGES);
} finally {
  await browser.close();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
