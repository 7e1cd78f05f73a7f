/** Measurements of single pages of the dashboard. */
import type { BrowserContext, CDPSession, Locator, Page } from 'playwright-core';
import { pathTo } from '../../dashboard/paths.ts';
import { waitFor } from '../../test/support/wait.ts';

const SETTLED_MS = 3000;
const IDLE_SECONDS = 10;
const REPLIES = 50;

export interface Seeded {
  questionId: string;
  conversationId: string;
  messages: number;
}

export interface MeasuredPage {
  name: string;
  path: string;
  /** The content that must be visible. */
  content(page: Page): Locator;
  /** Opens the content from another page by a click, instead of by the address. */
  click?(page: Page): Locator;
}

export interface Figures {
  page: string;
  shownMs: number;
  /** Requests for the API until the page has settled. */
  requests: number;
  /** Share of a core that the page uses while idle. */
  idleShare: number;
  idleRequests: number;
  heapMb: number;
}

const newestMessage = (page: Page, number: number): Locator =>
  page.getByRole('list', { name: 'Messages' }).getByText(new RegExp(`^Message ${number}( and so on)*$`));

export const pagesToMeasure = ({ questionId: id, conversationId, messages }: Seeded): MeasuredPage[] => [
  { name: 'Home', path: pathTo('home'), content: page => page.getByText('Comment 9', { exact: false }).first() },
  { name: 'Inbox', path: pathTo('inbox'), content: page => page.getByRole('row', { name: 'many|1', exact: true }) },
  {
    name: 'Thread, by a click in the inbox',
    path: pathTo('inbox'),
    click: page => page.getByRole('row', { name: 'ux|1', exact: true }),
    content: page => newestMessage(page, messages),
  },
  {
    name: 'Thread, by its address',
    path: pathTo('conversation', { id: conversationId }),
    content: page => newestMessage(page, messages),
  },
  { name: 'Questions', path: pathTo('questions'), content: page => page.getByRole('link', { name: 'How likely?' }) },
  { name: 'Question editor', path: pathTo('question', { id }), content: page => page.getByLabel('9 of 10') },
  { name: 'Results', path: pathTo('questionResults', { id }), content: page => page.locator('canvas').first() },
  { name: 'Answers', path: pathTo('questionAnswers', { id }), content: page => page.getByRole('cell').first() },
  { name: 'People', path: pathTo('people'), content: page => page.getByRole('link', { name: /many\|/ }).first() },
  {
    name: 'Person with 500 answers',
    path: pathTo('identity', { identity: 'ux|1' }),
    content: page => page.getByRole('button', { name: /^View card/ }).first(),
  },
  { name: 'Insights', path: pathTo('insights'), content: page => page.getByText(/^Comment \d+/).first() },
  { name: 'Data', path: pathTo('data'), content: page => page.getByText('10,000').first() },
];

const taskSeconds = async (cdp: CDPSession): Promise<number> =>
  (await cdp.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;

/** Counts the requests for the API from now on. */
function countRequests(page: Page): () => number {
  let count = 0;
  page.on('request', request => {
    if (new URL(request.url()).pathname.startsWith('/v1/')) count++;
  });
  return () => count;
}

/** Opens a page in a new tab and measures it. */
export async function measurePage(
  context: BrowserContext,
  base: string,
  { name, path, content, click }: MeasuredPage,
): Promise<Figures> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable');
  if (click) {
    await page.goto(`${base}${path}`);
    await click(page).waitFor();
    await page.waitForTimeout(SETTLED_MS);
  }
  const requests = countRequests(page);
  const before = performance.now();
  if (click) await click(page).click();
  else await page.goto(`${base}${path}`, { waitUntil: 'commit' });
  await content(page).waitFor();
  const shownMs = performance.now() - before;
  await page.waitForTimeout(SETTLED_MS);
  const untilSettled = requests();
  const busy = await taskSeconds(cdp);
  await page.waitForTimeout(IDLE_SECONDS * 1000);
  const idleShare = ((await taskSeconds(cdp)) - busy) / IDLE_SECONDS;
  const idleRequests = requests() - untilSettled;
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  await page.close();
  return { page: name, shownMs, requests: untilSettled, idleShare, idleRequests, heapMb: usedSize / 2 ** 20 };
}

/** Sends replies in the thread and returns a sentence with their requests, refusals and time. */
export async function measureReplies(
  context: BrowserContext,
  base: string,
  { conversationId }: Seeded,
): Promise<string> {
  const page = await context.newPage();
  await page.goto(`${base}${pathTo('conversation', { id: conversationId })}`);
  const composer = page.getByRole('textbox', { name: 'Reply to the user' });
  await composer.waitFor();
  await page.waitForTimeout(SETTLED_MS);
  let refused = 0;
  page.on('response', reply => {
    if (reply.status() === 429) refused++;
  });
  const requests = countRequests(page);
  const before = performance.now();
  for (let number = 1; number <= REPLIES; number++) {
    await composer.fill(`Reply ${number}`);
    await page.keyboard.press('Control+Enter');
    await waitFor(async () => (await composer.inputValue()) === '');
  }
  await page.getByRole('list', { name: 'Messages' }).getByText(`Reply ${REPLIES}`, { exact: true }).waitFor();
  const seconds = (performance.now() - before) / 1000;
  const each = requests() / REPLIES;
  await page.close();
  return `${REPLIES} replies in ${seconds.toFixed(1)} s: ${each.toFixed(1)} requests each, polls included; ${refused} refused with 429.`;
}
