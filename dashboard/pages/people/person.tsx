import { useSearch } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Identity } from '../../api/names.ts';
import { Badge } from '../../components/badge.tsx';
import { Page, Panel, Ready } from '../../components/page.tsx';
import { formatTime, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { Cards } from './cards.tsx';
import styles from './person.module.css';
import { Timeline } from './timeline.tsx';

interface Who {
  identity: string;
  verified: boolean;
}

/** The profile as name-value pairs; empty fields are omitted. */
function factsOf({
  attributes,
  locale,
  platform,
  app_version,
  first_seen_at,
  last_seen_at,
}: Identity): [string, string][] {
  const facts: [string, string | null][] = [
    [t('Platform'), platform],
    [t('App version'), app_version],
    [t('Language'), locale],
    ...Object.entries(attributes).map(([name, value]): [string, string] => [name, String(value)]),
    [t('First seen'), first_seen_at && formatTime(first_seen_at)],
    [t('Last seen'), last_seen_at && formatTime(last_seen_at)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

const Attributes = ({ identity }: { identity: Identity }) => (
  <dl className={styles.facts}>
    {factsOf(identity).map(([name, value]) => (
      <div key={name}>
        <dt className="small quiet wrap-anywhere">{name}</dt>
        <dd className="wrap-anywhere">{value}</dd>
      </div>
    ))}
  </dl>
);

type ProfileQuery = ReturnType<typeof useProfile>;

const useProfile = ({ identity, verified }: Who) =>
  useApi('GET /v1/identities/{identity}', { params: { identity }, query: { verified } });

/** Profile of an identity; empty without one (404). */
function Profile({ query }: { query: ProfileQuery }) {
  if (query.error?.status === 404) return null;
  return (
    <Panel title={t('User details')}>
      <Ready query={query} lines={1}>
        {identity => <Attributes identity={identity} />}
      </Ready>
    </Panel>
  );
}

/** Whether the identity is verified, or unknown (404). */
function Standing({ query: { data, error } }: { query: ProfileQuery }) {
  if (data?.verified) return <Badge tone="good">{t('Verified by your backend')}</Badge>;
  if (data) return <Badge tone="warn">{t('Unverified (signed in with a public key)')}</Badge>;
  return error?.status === 404 ? <Badge>{t('Unknown user')}</Badge> : null;
}

/** The identity in the URL. Not read from the router, which decodes doubly encoded paths incorrectly. */
const identityHere = (): string => decodeURIComponent(location.pathname.split('/').at(-1) ?? '');

/** All data of one identity. A verified and an unverified identity of the same name are distinct. */
export function Person() {
  const isClaimed = new URLSearchParams(useSearch()).has('claimed');
  const who: Who = { identity: identityHere(), verified: !isClaimed };
  const profile = useProfile(who);
  return (
    <Page
      title={who.identity}
      back={{ href: pathTo('people'), label: t('People') }}
      lead={<Standing query={profile} />}
    >
      <div className={styles.person}>
        <Profile query={profile} />
        <div className={styles.left}>
          <Cards who={who} />
          <Timeline who={who} firstSeenAt={profile.data?.first_seen_at} />
        </div>
      </div>
    </Page>
  );
}
