import { Link } from 'wouter';
import { ButtonLink } from '../components/button.tsx';
import { Front } from '../components/front.tsx';
import { Empty, Page } from '../components/page.tsx';
import { SignOut } from '../components/sign-out.tsx';
import { t } from '../i18n.ts';
import { pathIn, pathTo } from '../paths.ts';
import { useSession, useSignedIn } from '../session.tsx';

/** Page for unknown addresses. */
export function NotFound() {
  const { membership } = useSession();
  return (
    <Page title={t('Page not found')}>
      <Empty
        title={t('This address does not exist')}
        action={<ButtonLink href={pathIn(membership.tenant.id, pathTo('home'))}>{t('Go to the home page')}</ButtonLink>}
      >
        {t('It may have been moved or deleted, or the address may be misspelled.')}
      </Empty>
    </Page>
  );
}

/** Page for the address of a tenant to which the account does not belong. */
export function UnknownTenant() {
  const { account } = useSignedIn();
  if (account.memberships.length === 0) return <NoTenant />;
  return (
    <Front title={t('You are not a member of this tenant')}>
      <p>{t('{email} has access to:', { email: account.email })}</p>
      <ul className="stack">
        {account.memberships.map(({ tenant }) => (
          <li key={tenant.id}>
            <Link href={pathIn(tenant.id, pathTo('home'))}>{tenant.name}</Link>
          </li>
        ))}
      </ul>
      <div>
        <SignOut />
      </div>
    </Front>
  );
}

/** Page for an account without memberships. */
export const NoTenant = () => (
  <Front title={t('You are not a member of any tenant')}>
    <p>{t('Ask an owner for a new invitation.')}</p>
    <div>
      <SignOut />
    </div>
  </Front>
);
