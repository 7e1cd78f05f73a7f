/** Pages, dialogs and states to capture, and how to open them. */
import type { Page } from 'playwright-core';
import { pathTo } from '../paths.ts';
import { inboxStatesOf } from './inbox-scenes.ts';
import { opens, PROBLEM, press, type Scene } from './scene.ts';
import type { Seeded } from './seed.ts';

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
  { name: 'empty-saved-replies', path: pathTo('savedReplies') },
  { name: 'empty-webhooks', path: pathTo('webhooks') },
  { name: 'empty-ingestion', path: pathTo('data') },
];

/** Every page of a seeded tenant. */
export const pagesOf = ({ questions, draftId, conversationId, webhookId }: Seeded): Scene[] => [
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
  { name: 'settings-inbox', path: pathTo('inboxSettings') },
  { name: 'settings-api-keys', path: pathTo('apiKeys') },
  { name: 'settings-saved-replies', path: pathTo('savedReplies') },
  { name: 'settings-webhooks', path: pathTo('webhooks') },
  { name: 'settings-webhook', path: pathTo('webhook', { id: webhookId }) },
  { name: 'settings-events', path: pathTo('events'), isScreen: true },
  { name: 'settings-members', path: pathTo('members') },
  { name: 'settings-security', path: pathTo('me') },
  { name: 'settings-audit-log', path: pathTo('auditLog') },
];

/** Dialogs, loading, error and success states. */
export const statesOf = ({ questions, draftId, ...seeded }: Seeded): Scene[] => [
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
  {
    name: 'webhook-create',
    path: pathTo('webhooks'),
    isScreen: true,
    async act(page) {
      await opens('Create webhook')(page);
      await page.getByLabel('Selected events').check();
    },
  },
  {
    name: 'webhook-secret',
    path: pathTo('webhook', { id: seeded.webhookId }),
    isScreen: true,
    async act(page) {
      await opens('Rotate secret')(page);
      await page.getByLabel('Grace period (hours)').fill('0');
      await press('Rotate')(page);
      await page.getByText('Copy these values now.', { exact: false }).waitFor();
    },
  },
  {
    name: 'webhook-replay',
    path: pathTo('webhook', { id: seeded.webhookId }),
    isScreen: true,
    act: opens('Replay a period'),
  },
  { name: 'webhook-disable', path: pathTo('webhook', { id: seeded.webhookId }), isScreen: true, act: opens('Disable') },
  {
    name: 'webhook-delivery',
    path: pathTo('webhook', { id: seeded.webhookId }),
    act: page => page.getByText('Request and response').first().click(),
  },
  {
    name: 'event-content',
    path: pathTo('events'),
    isScreen: true,
    async act(page) {
      await page.getByText('Show content').first().click();
      await page.getByText('"tenant_id"', { exact: false }).waitFor();
    },
  },
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
  { name: 'question-faults', path: pathTo('newQuestion'), act: press('Publish') },
  {
    name: 'results-table',
    path: pathTo('questionResults', { id: questions.nps }),
    act: page => page.getByText('Show as table').first().click(),
  },
  ...inboxStatesOf(seeded),
  {
    name: 'settings-rule',
    path: pathTo('inboxSettings'),
    async act(page) {
      await press('Add rule')(page);
      await page.getByLabel('Attribute of the person').last().fill('plan');
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
