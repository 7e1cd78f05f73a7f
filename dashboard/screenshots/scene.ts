import type { Page } from 'playwright-core';

/** A page, a dialog or a state to capture, and how to open it. */
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

/** Presses the first button with this name. */
export const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name, exact: true }).first().click();

/** Presses a button and waits for the dialog. */
export const opens = (name: string) => async (page: Page) => {
  await press(name)(page);
  await page.locator('[role=dialog], [role=alertdialog]').waitFor();
};

export const PROBLEM = {
  type: 'about:blank',
  title: 'Database unavailable',
  status: 500,
  detail: 'PostgreSQL did not respond in time. No changes were made.',
  request_id: '5f0c6c1e-62b0-4d8e-9a55-2f8f7c9c1f0a',
};
