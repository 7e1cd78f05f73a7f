/** Dashboard pages that open with a token. */
export type LinkPage = 'setup' | 'invitation' | 'reset';

/** Returns a link with a token. The token follows `#`, so it is not sent to servers and never appears in their logs. */
export const linkTo = (baseUrl: string, page: LinkPage, token: string): string =>
  `${baseUrl}/dashboard/${page}#token=${token}`;

/** Returns the address of a webhook's page in the dashboard. */
export const webhookPage = (baseUrl: string, webhookId: string): string =>
  `${baseUrl}/dashboard/settings/webhooks/${webhookId}`;
