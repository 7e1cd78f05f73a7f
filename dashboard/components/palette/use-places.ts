import { useEffect, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { identityPath } from '../identity-link.tsx';
import { matching, type Place } from './places.ts';

/** Time without typing after which the server is asked. */
const PAUSE_MS = 200;
/** Shown places of each kind. */
const SHOWN = 5;

function usePages(): Place[] {
  const { may } = useSession();
  const pages: [label: string, href: string, isOpen?: boolean][] = [
    [t('Home'), pathTo('home')],
    [t('Inbox'), pathTo('inbox')],
    [t('Questions'), pathTo('questions')],
    [t('New question'), pathTo('newQuestion'), may('questions:write')],
    [t('People'), pathTo('people')],
    [t('Insights'), pathTo('insights')],
    [t('Data'), pathTo('data')],
    [t('Settings'), pathTo('general')],
    [t('Appearance'), pathTo('appearance')],
    [t('Inbox settings'), pathTo('inboxSettings'), may('tenant:write')],
    [t('API keys'), pathTo('apiKeys'), may('api-keys:manage')],
    [t('Saved replies'), pathTo('savedReplies')],
    [t('Members'), pathTo('members')],
    [t('Webhooks'), pathTo('webhooks'), may('webhooks:manage')],
    [t('Events'), pathTo('events'), may('events:read')],
    [t('Audit log'), pathTo('auditLog'), may('audit-log:read')],
    [t('Your account'), pathTo('me')],
  ];
  return pages
    .filter(([, , isOpen = true]) => isOpen)
    .map(([label, href]) => ({ id: href, label, href, hint: t('Page') }));
}

/** The text once typing has paused. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

/** Pages, questions, people and conversations that match the search. */
export function usePlaces(search: string): Place[] {
  const q = usePaused(search.trim());
  const reading = { enabled: q !== '' };
  const questions = useApi('GET /v1/questions', { query: { q, limit: SHOWN } }, reading);
  const people = useApi('GET /v1/identities', { query: { q, limit: SHOWN } }, reading);
  const conversations = useApi('GET /v1/conversations', { query: { q, limit: SHOWN } }, reading);
  const pages = matching(usePages(), search);
  if (q === '') return pages;
  return [
    ...pages,
    ...(questions.data?.data ?? []).map(({ id, name, status }) => ({
      id,
      label: name,
      hint: t('Question'),
      href: pathTo(status === 'draft' ? 'question' : 'questionResults', { id }),
    })),
    ...(people.data?.data ?? []).map(({ identity, verified }) => ({
      id: `${verified} ${identity}`,
      label: identity,
      hint: verified ? t('Person') : t('Person, unverified'),
      href: identityPath(identity, verified),
    })),
    ...(conversations.data?.data ?? []).map(({ id, subject, identity, last_message }) => ({
      id,
      label: subject || last_message.preview,
      hint: t('Conversation with {name}', { name: identity }),
      href: pathTo('conversation', { id }),
    })),
  ];
}
