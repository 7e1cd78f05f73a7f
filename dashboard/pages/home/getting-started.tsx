import type { ReactNode } from 'react';
import { ButtonLink } from '../../components/button.tsx';
import { DemoData } from '../../components/demo-data.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Snippets } from '../../components/snippets/first-request.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import styles from './getting-started.module.css';
import type { Progress } from './progress.ts';

interface StepProps {
  number: number;
  done: boolean;
  title: string;
  action?: ReactNode;
  children: ReactNode;
}

const Step = ({ number, done, title, action, children }: StepProps) => (
  <li className={done ? `${styles.step} ${styles.done}` : styles.step}>
    <span className={styles.mark}>
      {done ? <Icon name="check" size={16} /> : <span>{number}</span>}
      <span className="hidden-text">{done ? t('done') : t('to do')}</span>
    </span>
    <div>
      <h2>{title}</h2>
      <p className="quiet">{children}</p>
    </div>
    {action}
  </li>
);

function Checklist({ progress: { hasKey, isLive, fetched, stored } }: { progress: Progress }) {
  const { may } = useSession();
  return (
    <ol className={styles.steps}>
      <Step
        number={1}
        done={hasKey}
        title={t('Create an API key')}
        action={
          !hasKey && may('api-keys:manage') && <ButtonLink href={pathTo('apiKeys')}>{t('Go to API keys')}</ButtonLink>
        }
      >
        {t('Your backend uses its secret to sign tokens for your users.')}
      </Step>
      <Step
        number={2}
        done={isLive}
        title={t('Publish a question')}
        action={
          !isLive && may('questions:write') && <ButtonLink href={pathTo('newQuestion')}>{t('New question')}</ButtonLink>
        }
      >
        {t('Create a draft, check the preview and publish it.')}
      </Step>
      <Step number={3} done={fetched} title={t('Fetch cards from your app')}>
        {t('Use one of the snippets below. This step is complete when Parley returns the first card.')}
      </Step>
      <Step
        number={4}
        done={stored}
        title={t('Receive your first answer')}
        action={stored && <ButtonLink href={pathTo('questions')}>{t('View results')}</ButtonLink>}
      >
        {t('Answers are stored within seconds and appear in the results automatically.')}
      </Step>
    </ol>
  );
}

/** Setup steps with live progress. */
export const GettingStarted = ({ progress }: { progress: Progress }) => (
  <Page
    title={t('Getting started')}
    lead={t('Complete these four steps to receive your first answer. Each step is checked off automatically.')}
  >
    <Panel>
      <Checklist progress={progress} />
    </Panel>
    <DemoData />
    <Snippets />
  </Page>
);
