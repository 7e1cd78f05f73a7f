import { afterAll, beforeAll, describe, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, panel } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { createMailServer, type TestMailServer } from '../support/mail.ts';
import { setUp } from '../support/team.ts';

describe.runIf(hasBrowser())('the mails of invitations', { timeout: 240_000 }, () => {
  let mails: TestMailServer;
  let dashboard: OpenDashboard;
  beforeAll(async () => {
    mails = await createMailServer();
    dashboard = await openDashboard({ SMTP_URL: mails.url, MAIL_FROM: 'Parley <parley@acme.example>' });
    await setUp(dashboard.page, dashboard.installation.setupLink);
  }, 300_000);
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]();
    await mails?.[Symbol.asyncDispose]();
  });

  test('show whether the mail server has accepted them, and why not', async () => {
    const { page, person, open } = dashboard;
    mails.react(command => {
      if (command.startsWith('RCPT TO:<later@'))
        return '450 4.2.0 <later@acme.example>: Greylisted, try again in 300 seconds';
      return command.startsWith('RCPT TO:<gone@') ? '550 5.1.1 <gone@acme.example>: User unknown' : undefined;
    });
    await open(pathTo('members'));
    for (const name of ['nora', 'later', 'gone']) {
      await page.getByRole('button', { name: 'Invite member' }).click();
      await page.getByLabel('Email').fill(`${name}@acme.example`);
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      await page.getByText(`An invitation is being sent to ${name}@acme.example.`).waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
    }
    const row = (name: string) =>
      panel(page, 'Pending invitations')
        .getByRole('row')
        .filter({ hasText: `${name}@acme` });
    await row('nora').getByText('Sent', { exact: true }).waitFor();
    await row('later').getByText('Queued', { exact: true }).waitFor();
    await row('later').getByText('Greylisted', { exact: false }).waitFor();
    await row('gone').getByText('Not delivered', { exact: true }).waitFor();
    await row('gone').getByText('550 5.1.1 <gone@acme.example>: User unknown').waitFor();
    await expectNoViolations(person);
    mails.react(() => undefined);
    await row('later').getByText('Sent', { exact: true }).waitFor(); // without a reload, after ten seconds
  });
});
