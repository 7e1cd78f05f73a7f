/** The pages of the dashboard that a link with a token opens. */
export type LinkPage = 'setup' | 'invitation' | 'reset';

/** A link that proves itself by its token, which stands behind `#` and so reaches no server's log. */
export const linkTo = (baseUrl: string, page: LinkPage, token: string): string =>
  `${baseUrl}/dashboard/${page}#token=${token}`;
