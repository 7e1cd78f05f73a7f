import type { ReactNode } from 'react';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Page } from '../../components/page.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { STATUS_TONE, statusName, typeName } from '../../words.ts';
import { QuestionActions } from './actions.tsx';
import { QuestionTabs } from './tabs.tsx';

interface FrameProps {
  id: string;
  /** Absent while loading. */
  question: Schemas['Question'] | undefined;
  children: ReactNode;
}

const Lead = ({ status, type }: Schemas['Question']) => (
  <span className="row">
    <Badge tone={STATUS_TONE[status]}>{statusName(status)}</Badge> <span>{typeName(type)}</span>
  </span>
);

/** Layout of the pages of a question: title, status, actions and tabs. */
export const QuestionFrame = ({ id, question, children }: FrameProps) => (
  <Page
    title={question?.name ?? t('Question')}
    lead={question && <Lead {...question} />}
    back={{ href: pathTo('questions'), label: t('Questions') }}
    actions={question && <QuestionActions question={question} />}
  >
    <QuestionTabs id={id} />
    {children}
  </Page>
);
