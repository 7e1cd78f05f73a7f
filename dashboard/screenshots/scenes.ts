/** Pages, dialogs and states to capture, and how to open them. */
import type { Page } from 'playwright-core';
import { pathTo } from '../paths.ts';
import type { Seeded } from './seed.ts';

export interface Scene {
  /** File name prefix. */
  name: string;
  path: string;
  /** Runs before the page is opened, for example to stub requests. */
  before?(page: Page): Promise<unknown>;
  /** Runs on the loaded page. */
  act?(page: Page): Promise<unknown>;
  /** Captures the viewport only: for dialogs and pages with inner scrolling. */
  isScreen?: boolean;
  /** Captures the loading state of a page that never finishes. */
  isPending?: boolean;
  only?: 'wide' | 'narrow';
}

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name, exact: true }).first().click();

/** Presses a button and waits for the dialog. */
const opens = (name: string) => async (page: Page) => {
  await press(name)(page);
  await page.locator('[role=dialog], [role=alertdialog]').waitFor();
};

const PROBLEM = {
  type: 'about:blank',
  title: 'Database unavailable',
  status: 500,
  detail: 'PostgreSQL did not respond in time. No changes were made.',
  request_id: '5f0c6c1e-62b0-4d8e-9a55-2f8f7c9c1f0a',
};

const failing = (page: Page) =>
  page.route('**/v1/questions?*', route =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify(PROBLEM),
    }),
  );

/** Refuses to save a question whose second follow-up depends on a step that was moved behind it. */
const refusing = (page: Page) =>
  page.route('**/v1/questions/*', route =>
    route.request().method() === 'PATCH'
      ? route.fulfill({
          status: 422,
          contentType: 'application/problem+json',
          body: JSON.stringify({ ...PROBLEM, code: 'validation-failed', status: 422, errors: [LOOKS_AHEAD] }),
        })
      : route.continue(),
  );

/** Refuses the first conversation of a bulk change, and misses the second. */
const refusingSome = (page: Page) =>
  page.route('**/v1/conversations/bulk', route => {
    const { ids } = route.request().postDataJSON() as { ids: string[] };
    const outcomes = [{ status: 'conflict', code: 'too-many-tags' }, { status: 'not-found' }];
    const results = ids.map((id, at) => ({ id, ...(outcomes[at] ?? { status: 'changed' }) }));
    return route.fulfill({ contentType: 'application/json', body: JSON.stringify({ results }) });
  });

const LOOKS_AHEAD = {
  pointer: '/follow_ups/1/show_if/step',
  code: 'looks-ahead',
  detail: 'Must be the key of an earlier step: "main".',
};

const neverAnswering = (page: Page) => page.route('**/v1/questions?*', () => undefined);

/** Pages without a session. */
export const FRONT: Scene[] = [
  { name: 'login', path: pathTo('login') },
  {
    name: 'login-refused',
    path: pathTo('login'),
    async act(page) {
      await page.getByLabel('Email').fill('ada@acme.example');
      await page.getByLabel('Password').fill('not this one');
      await press('Sign in')(page);
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'forgotten', path: pathTo('forgotten') },
  { name: 'setup', path: `${pathTo('setup')}#token=example` },
  { name: 'reset', path: `${pathTo('reset')}#token=example` },
  { name: 'invitation-gone', path: `${pathTo('invitation')}#token=example` },
];

/** A new tenant. */
export const EMPTY: Scene[] = [
  { name: 'empty-home', path: pathTo('home') },
  { name: 'empty-questions', path: pathTo('questions') },
  { name: 'empty-inbox', path: pathTo('inbox'), isScreen: true },
  { name: 'empty-api-keys', path: pathTo('apiKeys') },
  { name: 'empty-ingestion', path: pathTo('data') },
];

/** Every page of a seeded tenant. */
export const pagesOf = ({ questions, draftId, conversationId }: Seeded): Scene[] => [
  { name: 'home', path: pathTo('home') },
  { name: 'questions', path: pathTo('questions') },
  { name: 'question-new', path: pathTo('newQuestion') },
  { name: 'question-edit', path: pathTo('question', { id: draftId }) },
  { name: 'question-edit-live', path: pathTo('question', { id: questions.choice }) },
  { name: 'results-nps', path: pathTo('questionResults', { id: questions.nps }) },
  { name: 'results-csat', path: pathTo('questionResults', { id: questions.csat }) },
  { name: 'results-choice', path: pathTo('questionResults', { id: questions.choice }) },
  { name: 'results-thumbs', path: pathTo('questionResults', { id: questions.thumbs }) },
  { name: 'results-text', path: pathTo('questionResults', { id: questions.text }) },
  { name: 'answers', path: pathTo('questionAnswers', { id: questions.choice }) },
  { name: 'versions', path: pathTo('questionVersions', { id: questions.nps }) },
  { name: 'inbox', path: pathTo('inbox'), isScreen: true },
  { name: 'conversation', path: pathTo('conversation', { id: conversationId }), isScreen: true },
  { name: 'people', path: pathTo('people') },
  { name: 'insights', path: pathTo('insights') },
  { name: 'person', path: pathTo('identity', { identity: 'mara.voss' }) },
  { name: 'ingestion', path: pathTo('data') },
  { name: 'settings-general', path: pathTo('general') },
  { name: 'settings-appearance', path: pathTo('appearance') },
  { name: 'settings-api-keys', path: pathTo('apiKeys') },
  { name: 'settings-members', path: pathTo('members') },
  { name: 'settings-security', path: pathTo('me') },
  { name: 'settings-audit-log', path: pathTo('auditLog') },
];

/** Dialogs, loading, error and success states. */
export const statesOf = ({ questions, draftId, conversationId }: Seeded): Scene[] => [
  { name: 'key-create', path: pathTo('apiKeys'), isScreen: true, act: opens('Create API key') },
  {
    name: 'key-public',
    path: pathTo('apiKeys'),
    isScreen: true,
    async act(page) {
      await opens('Create API key')(page);
      await page.getByLabel('Public').check();
    },
  },
  {
    name: 'key-secrets',
    path: pathTo('apiKeys'),
    isScreen: true,
    async act(page) {
      await opens('Create API key')(page);
      await page.getByLabel('Name').fill('staging');
      await press('Create')(page);
      await page.getByText('Copy these values now.', { exact: false }).waitFor();
    },
  },
  { name: 'key-rotate', path: pathTo('apiKeys'), isScreen: true, act: opens('Rotate') },
  { name: 'key-revoke', path: pathTo('apiKeys'), isScreen: true, act: opens('Revoke') },
  { name: 'member-invite', path: pathTo('members'), isScreen: true, act: opens('Invite member') },
  {
    name: 'question-close',
    path: pathTo('questionResults', { id: questions.nps }),
    isScreen: true,
    act: opens('Close'),
  },
  {
    name: 'question-saved',
    path: pathTo('question', { id: draftId }),
    isScreen: true,
    async act(page) {
      await page.getByText('How many', { exact: true }).click();
      await page.getByLabel('Priority').fill('10');
      await press('Save draft')(page);
      await page.getByText('Saved', { exact: true }).waitFor();
    },
  },
  {
    name: 'question-steps',
    path: pathTo('question', { id: draftId }),
    async act(page) {
      await page.getByRole('button', { name: '2. What bothers you about it?' }).click();
      await page.getByRole('button', { name: 'Add condition' }).first().click();
      await press('Add step')(page);
      await page.getByLabel('Show this step').last().selectOption('any');
    },
  },
  {
    name: 'question-step-faults',
    path: pathTo('question', { id: draftId }),
    before: refusing,
    async act(page) {
      await press('Move step 3 up')(page);
      await press('Save draft')(page);
      await page.locator('[aria-invalid=true]').waitFor();
    },
  },
  {
    name: 'question-publish',
    path: pathTo('question', { id: draftId }),
    isScreen: true,
    act: opens('Publish'),
  },
  {
    name: 'results-step',
    path: `${pathTo('questionResults', { id: questions.nps })}?step=reason`,
  },
  {
    name: 'answer-steps',
    path: `${pathTo('questionAnswers', { id: questions.nps })}?value=4`,
    isScreen: true,
    async act(page) {
      await page
        .getByRole('button', { name: /^View answer of/ })
        .first()
        .click();
      await page.getByRole('dialog').locator('parley-feedback').first().waitFor();
    },
  },
  { name: 'answers-steps', path: pathTo('questionAnswers', { id: questions.nps }), isScreen: true },
  { name: 'question-faults', path: pathTo('newQuestion'), act: press('Save draft') },
  {
    name: 'results-table',
    path: pathTo('questionResults', { id: questions.nps }),
    act: page => page.getByText('Show as table').first().click(),
  },
  { name: 'conversation-new', path: pathTo('inbox'), isScreen: true, act: opens('New message') },
  { name: 'inbox-keys', path: pathTo('inbox'), isScreen: true, act: opens('Keyboard shortcuts') },
  {
    name: 'inbox-selected',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    only: 'wide',
    async act(page) {
      await page.getByLabel('Select conversation with tobi.lund').check();
      await page.getByLabel('Select conversation with petra.wirth').click({ modifiers: ['Shift'] });
    },
  },
  {
    name: 'inbox-assign',
    path: pathTo('inbox'),
    isScreen: true,
    async act(page) {
      await page.getByLabel('Select all in the list').check();
      await press('Assign')(page);
      await page.getByRole('menu').waitFor();
    },
  },
  {
    name: 'inbox-tags',
    path: pathTo('inbox'),
    isScreen: true,
    async act(page) {
      await page.getByLabel('Select all in the list').check();
      await opens('Tags')(page);
      await page.getByLabel('Add tag').fill('delivery');
      await page.keyboard.press('Enter');
    },
  },
  {
    name: 'inbox-changed',
    path: pathTo('inbox'),
    isScreen: true,
    before: refusingSome,
    async act(page) {
      await page.getByLabel('Select all in the list').check();
      await press('Priority')(page);
      await page.getByRole('menuitem', { name: 'High' }).click();
      await page.getByText('Done', { exact: true }).waitFor();
    },
  },
  {
    name: 'conversation-note',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    async act(page) {
      await press('Note')(page);
      await page.getByLabel('Internal note').fill('Sent her the 250 g bag of the Huila.');
    },
  },
  {
    name: 'inbox-no-matches',
    path: pathTo('inbox'),
    isScreen: true,
    async act(page) {
      await page.getByLabel('Search conversations').fill('zeppelin');
      await page.getByText('No matching conversations').waitFor();
    },
  },
  {
    name: 'token-inspector',
    path: pathTo('apiKeys'),
    async act(page) {
      await page.getByLabel('Token', { exact: true }).fill('eyJhbGciOiJub25lIn0.e30.');
      await press('Inspect')(page);
      await page.getByText('The token is invalid.').waitFor();
    },
  },
  { name: 'loading', path: pathTo('questions'), before: neverAnswering, isPending: true },
  {
    name: 'error',
    path: pathTo('questions'),
    before: failing,
    act: page => page.getByRole('alert').waitFor(),
  },
  { name: 'not-found', path: pathTo('question', { id: 'nowhere' }) },
  { name: 'menu', path: pathTo('questions'), isScreen: true, only: 'narrow', act: press('Menu') },
];

/** The same scenes in German, except for those that act on English labels. */
export const inGerman = (scenes: Scene[]): Scene[] =>
  scenes.filter(({ act }) => !act).map(scene => ({ ...scene, name: `de-${scene.name}` }));

const PRINTED = { 'results-nps': 'results', conversation: 'inbox', 'question-edit': 'editor' } as Record<
  string,
  string
>;

/** The screenshots of README. */
export const printedOf = (seeded: Seeded): Scene[] =>
  pagesOf(seeded)
    .filter(({ name }) => name in PRINTED)
    .map(scene => ({ ...scene, name: PRINTED[scene.name] as string }));
