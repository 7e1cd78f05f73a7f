import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useConnectionLoss } from '../api/connection.ts';
import { useApi } from '../api/hooks.ts';
import { formatNumber, t } from '../i18n.ts';
import { loadPart } from '../load-part.ts';
import { BASE, type PathName, pathIn, pathTo } from '../paths.ts';
import { useSession } from '../session.tsx';
import { useTenantId } from '../tenant.ts';
import { Button } from './button.tsx';
import { Brand } from './front.tsx';
import { Icon, type IconName } from './icon.tsx';
import { PaletteOnDemand } from './palette/palette-on-demand.tsx';
import styles from './shell.module.css';
import { SignOut } from './sign-out.tsx';

const isWithin = (here: string, path: string): boolean => here === path || here.startsWith(`${path}/`);

function NavLink({
  page,
  icon,
  count,
  children,
}: {
  page: PathName;
  icon: IconName;
  count?: number;
  children: ReactNode;
}) {
  const [here] = useLocation();
  const { membership } = useSession();
  const isHere = isWithin(here, page === 'general' ? '/settings' : pathTo(page));
  return (
    <Link
      href={pathIn(membership.tenant.id, pathTo(page))}
      className={styles.link}
      aria-current={isHere ? 'page' : undefined}
    >
      <Icon name={icon} />
      {children}
      {count ? (
        <span className={styles.count}>
          <span>{count > 99 ? '99+' : formatNumber(count)}</span>
          <span className="hidden-text"> {t('unread')}</span>
        </span>
      ) : null}
    </Link>
  );
}

/** Number of unread conversations; also prefixed to the document title. */
function useUnreadCount(): number {
  const hasTenant = useTenantId() !== undefined;
  const { data } = useApi(
    'GET /v1/conversations/unread-count',
    {},
    { everyMs: 5000, inBackground: true, enabled: hasTenant },
  );
  const count = data?.count ?? 0;
  useEffect(() => {
    const mark = () => {
      const title = document.title.replace(/^\(\d+\+?\) /, '');
      const marked = count > 0 ? `(${count > 99 ? '99+' : count}) ${title}` : title;
      if (document.title !== marked) document.title = marked;
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(document.querySelector('title') as Element, { childList: true });
    return () => observer.disconnect();
  }, [count]);
  return count;
}

function TenantName() {
  const { account, membership } = useSession();
  const [, go] = useLocation();
  const change = (tenantId: string) => go(pathIn(tenantId, pathTo('home'))); // the current page belongs to the previous tenant
  if (account.memberships.length < 2) return <p className={styles.tenantName}>{membership.tenant.name}</p>;
  return (
    <select
      className={styles.tenant}
      aria-label={t('Tenant')}
      value={membership.tenant.id}
      onChange={event => change(event.target.value)}
    >
      {account.memberships.map(({ tenant }) => (
        <option key={tenant.id} value={tenant.id}>
          {tenant.name}
        </option>
      ))}
    </select>
  );
}

/**
 * Banner for missing responses. The pages keep their content, and requests are repeated. The sign-in page of a proxy is opened in
 * another tab, so that nothing typed here is lost.
 */
export const ConnectionBanner = () => (
  <div className={styles.banner} role="status">
    {useConnectionLoss() === 'other-reply' ? (
      <>
        {t('Something else replies instead of Parley, such as the sign-in page of a proxy.')}{' '}
        <a href={`${BASE}/`} target="_blank" rel="noreferrer">
          {t('Open it in a new tab')}
        </a>
      </>
    ) : (
      t('Connection lost, retrying')
    )}
  </div>
);

/** Links to the parts of the tenant. */
function Navigation() {
  const unread = useUnreadCount();
  return (
    <nav className={styles.nav} aria-label={t('Pages')}>
      <NavLink page="home" icon="home">
        {t('Home')}
      </NavLink>
      <NavLink page="inbox" icon="inbox" count={unread}>
        {t('Inbox')}
      </NavLink>
      <NavLink page="questions" icon="question">
        {t('Questions')}
      </NavLink>
      <NavLink page="people" icon="person">
        {t('People')}
      </NavLink>
      <NavLink page="insights" icon="note">
        {t('Insights')}
      </NavLink>
      <div className={styles.lower}>
        <NavLink page="data" icon="pulse">
          {t('Data')}
        </NavLink>
        <NavLink page="general" icon="settings">
          {t('Settings')}
        </NavLink>
      </div>
    </nav>
  );
}

/** The member's own availability. It is loaded after the page, because the login does without it. */
const OwnAvailability = lazy(() =>
  loadPart(() => import('./own-availability.tsx')).then(module => ({ default: module.OwnAvailability })),
);

/** The running version and the beginning of its commit, as a report of a fault needs them. */
function Version() {
  const { data } = useApi('GET /readyz', {}, { isExtra: true });
  if (!data) return null;
  const { version, commit } = data;
  return (
    <p className={styles.version} title={commit}>
      {commit === 'unknown' ? `Parley ${version}` : `Parley ${version} (${commit.slice(0, 7)})`}
    </p>
  );
}

/** Layout of all pages with a session: navigation, tenant and account. */
export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const [here] = useLocation();
  const { account, may } = useSession();
  const tenantId = useTenantId();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A new page closes the menu, scrolls to the top and receives the focus; the inbox keeps its position.
  useEffect(() => {
    setOpen(false);
    if (!first.current && !isWithin(here, pathTo('inbox'))) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [here]);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        {t('Skip to content')}
      </a>
      <header className={styles.bar}>
        <Brand />
        <Button icon look="quiet" aria-label={t('Menu')} aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'close' : 'menu'} />
        </Button>
      </header>
      <aside className={isOpen ? `${styles.side} ${styles.open}` : styles.side} aria-label={t('Menu')}>
        <div className={styles.head}>
          <Brand />
          <TenantName />
          {tenantId && (
            <Button small onPress={() => setSearching(true)}>
              {t('Go to …')} <kbd>Ctrl K</kbd>
            </Button>
          )}
        </div>
        <Navigation />
        <footer className={styles.foot}>
          <Suspense>{tenantId && may('conversations:write') && <OwnAvailability />}</Suspense>
          <Link href={pathTo('me')} className={styles.who} title={account.email}>
            <Icon name="person" />
            <span>{account.name || account.email}</span>
          </Link>
          <SignOut />
          <Version />
        </footer>
      </aside>
      <main
        id="main"
        ref={main}
        tabIndex={-1}
        className={isWithin(here, pathTo('inbox')) ? `${styles.main} ${styles.wide}` : styles.main}
      >
        {children}
      </main>
      {tenantId && <PaletteOnDemand isOpen={isSearching} setOpen={setSearching} />}
    </div>
  );
}
