import { ButtonLink } from '../components/button.tsx';
import { Empty, Page } from '../components/page.tsx';
import { t } from '../i18n.ts';
import { PATHS } from '../paths.ts';

/** For an address at which no page is. */
export const NotFound = () => (
  <Page title={t('There is no such page')}>
    <Empty
      title={t('Nothing is at this address')}
      action={<ButtonLink href={PATHS.home}>{t('To the first page')}</ButtonLink>}
    >
      {t('It may have been moved or deleted, or the address is misspelt.')}
    </Empty>
  </Page>
);
