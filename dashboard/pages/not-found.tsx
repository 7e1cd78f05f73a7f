import { ButtonLink } from '../components/button.tsx';
import { Empty, Page } from '../components/page.tsx';
import { t } from '../i18n.ts';
import { PATHS } from '../paths.ts';

/** Page for unknown URLs. */
export const NotFound = () => (
  <Page title={t('Page not found')}>
    <Empty
      title={t('This address does not exist')}
      action={<ButtonLink href={PATHS.home}>{t('Go to the home page')}</ButtonLink>}
    >
      {t('It may have been moved or deleted, or the address may be misspelled.')}
    </Empty>
  </Page>
);
