import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useAct, useApi } from '../api/hooks.ts';
import { formatNumber, t } from '../i18n.ts';
import { PATHS } from '../paths.ts';
import { useSession, useSessionChange } from '../session.tsx';
import { Button } from './button.tsx';
import { Brand } from './front.tsx';
import { Icon, type IconName } from './icon.tsx';
import { LanguageSelect, ThemeSelect } from './preferences.tsx';
import styles from './shell.module.css';
import { toast } from './toast.tsx';

const isWithin = (here: string, path: string): boolean =>
  path === '/' ? here === '/' : here === path || here.startsWith(`${path}/`);

function NavLink({
  href,
  icon,
  count,
  children,
}: {
  href: string;
  icon: IconName;
  count?: number;
  children: ReactNode;
}) {
  const [here] = useLocation();
  return (
    <Link href={href} className={styles.link} aria-current={isWithin(here, href) ? 'page' : undefined}>
      <Icon name={icon} />
      {children}
      {count ? (
        <span className={styles.count}>
          {count > 99 ? '99+' : formatNumber(count)}
          <span className="hidden-text"> {t('unread')}</span>
        </span>
      ) : null}
    </Link>
  );
}

/** Number of unread conversations; also prefixed to the document title. */
function useUnreadCount(): number {
  const { data } = useApi('GET /v1/conversations/unread-count', {}, { everyMs: 5000, inBackground: true });
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
  const { account, membership, switchTenant } = useSession();
  const [, go] = useLocation();
  const change = (tenantId: string) => {
    go(PATHS.home); // the current page belongs to the previous tenant
    switchTenant(tenantId);
  };
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

function SignOut() {
  const logout = useAct('DELETE /v1/session');
  const changed = useSessionChange();
  const leave = () =>
    logout.mutate(
      {},
      { onSuccess: () => void changed(), onError: problem => toast(problem.title || t('Could not sign out')) },
    );
  return (
    <Button small look="quiet" isPending={logout.isPending} onPress={leave}>
      {t('Sign out')}
    </Button>
  );
}

/** Layout of all pages with a session: navigation, tenant and account. */
export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [here] = useLocation();
  const { account } = useSession();
  const unread = useUnreadCount();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // A new page closes the menu, scrolls to the top and receives the focus; the inbox keeps its position.
  useEffect(() => {
    setOpen(false);
    if (!first.current && !here.startsWith(PATHS.inbox)) {
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
        </div>
        <nav className={styles.nav} aria-label={t('Pages')}>
          <NavLink href={PATHS.home} icon="home">
            {t('Getting started')}
          </NavLink>
          <NavLink href={PATHS.questions} icon="question">
            {t('Questions')}
          </NavLink>
          <NavLink href={PATHS.inbox} icon="inbox" count={unread}>
            {t('Inbox')}
          </NavLink>
          <NavLink href={PATHS.ingestion} icon="pulse">
            {t('Ingestion')}
          </NavLink>
          <NavLink href={PATHS.general} icon="settings">
            {t('Settings')}
          </NavLink>
        </nav>
        <footer className={styles.foot}>
          <div>
            <span className={styles.who} title={account.email}>
              {account.name || account.email}
            </span>
            <SignOut />
          </div>
          <div>
            <LanguageSelect />
            <ThemeSelect />
          </div>
        </footer>
      </aside>
      <main
        id="main"
        ref={main}
        tabIndex={-1}
        className={here.startsWith(PATHS.inbox) ? `${styles.main} ${styles.wide}` : styles.main}
      >
        {children}
      </main>
    </div>
  );
}
