/** Dashboard pages that open with a token. */
export type LinkPage = 'setup' | 'invitation' | 'reset';

/** Returns a link with a token. The token follows `#`, so it is not sent to servers and never appears in their logs. */
export const linkTo = (baseUrl: string, page: LinkPage, token: string): string =>
  `${baseUrl}/dashboard/${page}#token=${token}`;
