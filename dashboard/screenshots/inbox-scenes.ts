import type { Page } from 'playwright-core';
import { asPerson } from '../../test/support/team.ts';
import { waitFor } from '../../test/support/wait.ts';
import { pathTo } from '../paths.ts';
import { opens, PROBLEM, press, type Scene } from './scene.ts';
import type { Seeded } from './seed.ts';

/** Refuses the first conversation of a bulk change, and misses the second. */
const refusingSome = (page: Page) =>
  page.route('**/v1/conversations/bulk', route => {
    const { ids } = route.request().postDataJSON() as { ids: string[] };
    const outcomes = [{ status: 'conflict', code: 'too-many-tags' }, { status: 'not-found' }];
    const results = ids.map((id, at) => ({ id, ...(outcomes[at] ?? { status: 'changed' }) }));
    return route.fulfill({ contentType: 'application/json', body: JSON.stringify({ results }) });
  });

const MISSED = {
  id: 'message_missed',
  kind: 'reply',
  seq: 9,
  body: 'Your parcel is at the pick-up point, Mara. The code is in our email.',
  author: { type: 'member', id: 'member_2', name: 'Mika Sørensen' },
  created_at: new Date().toISOString(),
};

/** Refuses a reply because of a colleague's. */
const moving = (page: Page) =>
  page.route('**/v1/conversations/*/messages', route =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 409,
          contentType: 'application/problem+json',
          body: JSON.stringify({ ...PROBLEM, code: 'conversation-moved', status: 409, missed: [MISSED] }),
        })
      : route.continue(),
  );

/** Sets a priority that somebody else changes at the same time. */
async function collide(page: Page, id: string): Promise<void> {
  const set = (priority: string) => asPerson(page, 'PATCH', `/v1/conversations/${id}`, { priority });
  const field = page.getByRole('region', { name: 'Conversation', exact: true }).getByLabel('Priority');
  await set('medium').catch(() => undefined); // the present one already
  await waitFor(async () => (await field.inputValue()) === 'medium');
  await set('urgent');
  await field.selectOption('Low');
  await page.getByRole('alert').waitFor();
}

/** Dialogs and states of the inbox. */
export const inboxStatesOf = ({
  conversationId,
  snoozedId,
  mergedId,
}: Pick<Seeded, 'conversationId' | 'snoozedId' | 'mergedId'>): Scene[] => [
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
    name: 'inbox-filters',
    path: `${pathTo('inbox', { view: 'mentions' })}?status=any&priority=high`,
    isScreen: true,
    act: page => page.getByLabel('Overdue').waitFor(),
  },
  { name: 'view-save', path: `${pathTo('inbox')}?priority=high`, isScreen: true, act: opens('Save as view') },
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
    name: 'conversation-snooze',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    async act(page) {
      await press('Snooze')(page);
      await page.getByRole('menu').waitFor();
    },
  },
  {
    name: 'conversation-pick-time',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    async act(page) {
      await press('Snooze')(page);
      await page.getByRole('menuitem', { name: /^Choose a time/ }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'conversation-slash',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    async act(page) {
      await page.getByLabel('Reply to the user').focus();
      await page.keyboard.type('Hello Mara, /');
      await page.getByRole('listbox').waitFor();
    },
  },
  {
    name: 'conversation-macro',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    async act(page) {
      await page.getByLabel('Reply to the user').focus();
      await page.keyboard.type('/shipped');
      await page.getByRole('listbox').waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send and apply' }).waitFor();
    },
  },
  {
    name: 'conversation-moved',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    before: moving,
    async act(page) {
      await page.getByLabel('Reply to the user').fill('It left our roastery this morning.');
      await press('Send reply')(page);
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'conversation-changed',
    path: pathTo('conversation', { id: conversationId }),
    isScreen: true,
    act: page => collide(page, conversationId),
  },
  {
    name: 'conversation-merge',
    path: pathTo('conversation', { id: snoozedId }),
    isScreen: true,
    act: opens('Merge'),
  },
  { name: 'conversation-snoozed', path: pathTo('conversation', { id: snoozedId }), isScreen: true },
  { name: 'conversation-merged', path: pathTo('conversation', { id: mergedId }), isScreen: true },
  { name: 'saved-reply-new', path: pathTo('savedReplies'), isScreen: true, act: opens('New saved reply') },
  {
    name: 'inbox-no-matches',
    path: pathTo('inbox'),
    isScreen: true,
    async act(page) {
      await page.getByLabel('Search conversations').fill('zeppelin');
      await page.getByText('No matching conversations').waitFor();
    },
  },
];
