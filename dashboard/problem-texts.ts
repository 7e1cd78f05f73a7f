import type { ApiProblem } from './api/problem.ts';
import { locale, t } from './i18n.ts';

/** A problem in the reader's language: cause and remedy. */
export interface ProblemText {
  title: string;
  detail: string;
}

type Texts = Record<string, [title: string, detail: string]>;

/** Texts of refused sign-ins through the identity provider. */
const PROVIDER_TEXTS = (): Texts => ({
  'provider-unavailable': [
    t('The identity provider cannot be reached'),
    t('Try again in a moment, or sign in with your password.'),
  ],
  'provider-refused': [
    t('The identity provider refused the sign-in'),
    t('Try again. If it happens again, ask the operator of Parley: the server log has the reason.'),
  ],
  'state-mismatch': [
    t('The sign-in was not started in this browser'),
    t('It took longer than ten minutes, or it was started elsewhere. Start it again.'),
  ],
  'email-missing': [
    t('The identity provider sent no email address'),
    t('Ask the administrator of your identity provider to add your email address.'),
  ],
  'email-unverified': [
    t('The identity provider has not verified your email address'),
    t('Verify it there. If your directory never does that, the operator of Parley can trust the directory.'),
  ],
  'email-mismatch': [
    t('The invitation is for another email address'),
    t('Sign in to the identity provider with the invited address, or ask for an invitation to the other one.'),
  ],
  'not-invited': [t('You have no account yet'), t('Ask a member of the team for an invitation, and open its link.')],
});

/** Texts by problem code (`/problems`) of failures that occur on the pages. A function, because the language can change. */
const TEXTS = (): Texts => ({
  ...PROVIDER_TEXTS(),
  'no-reply': [t('Parley could not be reached'), t('Check your connection and try again.')],
  'unreadable-reply': [
    t('Parley could not be reached'),
    t('The response did not come from Parley, or it is incomplete. Try again.'),
  ],
  'refused-on-the-way': [
    t('Something in front of Parley refused the request'),
    t('Ask the operator of the firewall or proxy to let it through.'),
  ],
  'rate-limit-exceeded': [t('Too many requests'), t('Wait a moment and try again.')],
  'service-overloaded': [t('Parley is overloaded'), t('Wait a moment and try again.')],
  'service-stopping': [t('Parley is restarting'), t('Wait a moment and try again.')],
  'database-unavailable': [t('The database cannot be reached'), t('No changes were made. Try again in a moment.')],
  'queue-unavailable': [t('Answers cannot be stored right now'), t('Try again in a moment.')],
  'query-too-expensive': [t('The search takes too long'), t('Narrow the filters and try again.')],
  'internal-error': [t('An unexpected error occurred'), t('Try again. If it happens again, report the request ID.')],
  'login-failed': [t('Sign-in failed'), t('The email address, the password or the code is wrong.')],
  'session-ended': [t('Your session has ended'), t('Sign in again.')],
  'insufficient-scope': [t('Your role does not allow this'), t('Ask an owner or admin.')],
  'not-allowed': [
    t('This link does not allow it'),
    t('Enter the password of the existing account, or reset it on the sign-in page.'),
  ],
  'not-a-member': [t('You are not a member of this tenant'), t('Ask an owner for a new invitation.')],
  'resource-not-found': [t('Not found'), t('It was deleted, or the address is wrong.')],
  'link-not-valid': [t('The link is not valid'), t('It was used, or it has expired. Ask for a new one.')],
  'invalid-transition': [
    t('This is not possible in the current state'),
    t('Somebody may have changed it. Reload the page.'),
  ],
  'immutable-field': [t('A field of a published question cannot change'), t('Clone the question to change it.')],
  'upgrade-unfinished': [
    t('An upgrade of Parley is not finished'),
    t(
      'Follow-up steps can be published when the last process of the previous version has stopped. Try again in a few minutes.',
    ),
  ],
  'limit-reached': [t('Limit reached'), t('Delete or archive something first.')],
  'last-owner': [t('A tenant needs an owner'), t('Make somebody else an owner first.')],
  'member-exists': [t('This person is already a member'), t('Change the role in the list of members.')],
  'totp-active': [t('Two-factor authentication is already on'), t('Turn it off first.')],
  'precondition-failed': [
    t('Somebody else has changed this'),
    t('The current version has been loaded. Check it and try again.'),
  ],
  'validation-failed': [t('Some values are not valid'), t('Check the marked fields.')],
  'conversation-deleted': [t('The conversation was deleted'), t('Messages cannot be added to it.')],
  'conversation-changed': [
    t('Somebody else has changed the conversation'),
    t('The current version has been loaded. Check it and try again.'),
  ],
  'message-not-editable': [t('The message can no longer be changed'), t('Messages can be changed for 15 minutes.')],
  'rotation-running': [
    t('The previous secrets of the key are still valid'),
    t('Wait for the end of the grace period.'),
  ],
  'body-too-large': [t('The text is too large'), t('Shorten it and try again.')],
  'csrf-failed': [t('The page belongs to an earlier session'), t('Reload the page.')],
});

/** Codes with own texts in English too: the server has none, or writes about its protocol. */
const OWN = ['no-reply', 'unreadable-reply', 'refused-on-the-way', 'precondition-failed'];

/** Codes for the responses of firewalls and proxies, which have none. */
const CODES_OF_OTHERS: Record<number, string> = { 403: 'refused-on-the-way', 405: 'refused-on-the-way' };

/** Returns the text for a problem code; `undefined` if it has none. */
export function textOfCode(code: string): ProblemText | undefined {
  const found = Object.entries(TEXTS()).find(([known]) => known === code)?.[1];
  return found && { title: found[0], detail: found[1] };
}

/** Returns the text of a problem: in English the server's, in other languages by its code. */
export function problemText(problem: ApiProblem): ProblemText {
  const code = problem.code || CODES_OF_OTHERS[problem.status] || (problem.status >= 500 ? 'unreadable-reply' : '');
  const own = locale() !== 'en' || OWN.includes(code) ? TEXTS()[code] : undefined;
  const wait = problem.retryAfterSeconds;
  const detail = own?.[1] ?? problem.message;
  return {
    title: own?.[0] ?? (problem.title || t('Request failed (status {status})', { status: problem.status })),
    detail:
      wait === undefined
        ? detail
        : `${detail} ${t('Next attempt possible in {count, plural, one {# second} other {# seconds}}.', { count: wait })}`.trim(),
  };
}
