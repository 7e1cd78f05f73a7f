import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { PageTabs } from '../../components/tabs.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import styles from './frame.module.css';

/** Layout of the settings, with the tabs that the member may see. */
export function SettingsFrame({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { may } = useSession();
  const tabs = [
    { href: pathTo('general'), title: t('General') },
    { href: pathTo('appearance'), title: t('Appearance') },
    ...(may('tenant:write') ? [{ href: pathTo('inboxSettings'), title: t('Inbox') }] : []),
    ...(may('api-keys:manage') ? [{ href: pathTo('apiKeys'), title: t('API keys') }] : []),
    { href: pathTo('savedReplies'), title: t('Saved replies') },
    ...(may('webhooks:manage') ? [{ href: pathTo('webhooks'), title: t('Webhooks') }] : []),
    ...(may('events:read') ? [{ href: pathTo('events'), title: t('Events') }] : []),
    { href: pathTo('members'), title: t('Members') },
    ...(may('audit-log:read') ? [{ href: pathTo('auditLog'), title: t('Audit log') }] : []),
  ];
  return (
    <Page title={title} actions={actions}>
      <PageTabs label={t('Settings')} tabs={tabs} />
      <div className={styles.settings}>{children}</div>
    </Page>
  );
}
