import { PageTabs } from '../../components/tabs.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';

/** Tabs of a question. */
export const QuestionTabs = ({ id }: { id: string }) => (
  <PageTabs
    label={t('Question')}
    tabs={[
      { href: pathTo('questionResults', { id }), title: t('Results') },
      { href: pathTo('questionAnswers', { id }), title: t('Answers') },
      { href: pathTo('question', { id }), title: t('Edit') },
      { href: pathTo('questionVersions', { id }), title: t('Versions') },
    ]}
  />
);
