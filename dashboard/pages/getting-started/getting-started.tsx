import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { ButtonLink } from '../../components/button.tsx';
import { CopyValue, Snippet } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page, Panel, Ready } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { t } from '../../i18n.ts';
import { PATHS } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import styles from './getting-started.module.css';
import { SNIPPETS } from './snippets.ts';
import { TokenInspector } from './token-doctor.tsx';

/** Poll interval for the progress of the steps. */
const EVERY_MS = 2000;

/** Polls the progress of the four steps. */
function useProgress() {
  const { may } = useSession();
  const keys = useApi(
    'GET /v1/api-keys',
    { query: { limit: 100 } },
    { everyMs: EVERY_MS, enabled: may('api-keys:manage') },
  );
  const live = useApi('GET /v1/questions', { query: { status: 'live', limit: 1 } }, { everyMs: EVERY_MS });
  const ingestion = useApi('GET /v1/ingestion', {}, { everyMs: EVERY_MS });
  const usable = keys.data?.data.filter(({ status }) => status === 'active' || status === 'rotating') ?? [];
  const stored = (ingestion.data?.stored ?? 0) > 0;
  const fetched = stored || (ingestion.data?.first_card_at ?? null) !== null;
  return {
    ingestion,
    key: usable.find(({ kind }) => kind === 'server') ?? usable[0],
    hasKey: fetched || usable.length > 0,
    isLive: fetched || (live.data?.data.length ?? 0) > 0,
    fetched,
    stored,
  };
}

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
      {done ? <Icon name="check" size={16} /> : number}
      <span className="hidden-text">{done ? t('done') : t('to do')}</span>
    </span>
    <div>
      <h2>{title}</h2>
      <p className="quiet">{children}</p>
    </div>
    {action}
  </li>
);

function Checklist({ progress: { hasKey, isLive, fetched, stored } }: { progress: ReturnType<typeof useProgress> }) {
  const { may } = useSession();
  return (
    <ol className={styles.steps}>
      <Step
        number={1}
        done={hasKey}
        title={t('Create an API key')}
        action={
          !hasKey && may('api-keys:manage') && <ButtonLink href={PATHS.apiKeys}>{t('Go to API keys')}</ButtonLink>
        }
      >
        {t('Your backend uses its secret to sign tokens for your users.')}
      </Step>
      <Step
        number={2}
        done={isLive}
        title={t('Publish a question')}
        action={
          !isLive && may('questions:write') && <ButtonLink href={PATHS.newQuestion}>{t('New question')}</ButtonLink>
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
        action={stored && <ButtonLink href={PATHS.questions}>{t('View results')}</ButtonLink>}
      >
        {t('Answers are stored within seconds and appear in the results automatically.')}
      </Step>
    </ol>
  );
}

/** Home page: onboarding checklist with live progress, code snippets and the token inspector. */
export function GettingStarted() {
  const progress = useProgress();
  const { membership, may } = useSession();
  const keyId = progress.key?.id ?? 'key_…';
  const ids = { baseUrl: location.origin, tenantId: membership.tenant.id, keyId };
  return (
    <Page
      title={progress.stored ? t('Setup complete') : t('Getting started')}
      lead={
        progress.stored
          ? t('Answers are arriving. The snippets stay here for your next app.')
          : t('Complete these four steps to receive your first answer. Each step is checked off automatically.')
      }
    >
      <Panel>
        <Ready query={progress.ingestion}>{() => <Checklist progress={progress} />}</Ready>
      </Panel>
      <Panel
        title={t('Your first request')}
        lead={t('The snippets contain your tenant ID and key ID. The secret was shown when the key was created.')}
      >
        <CopyValue value={membership.tenant.id} what={t('Tenant ID')} />
        <Tabs
          label={t('Snippet language')}
          tabs={SNIPPETS.map(({ id, title, code }) => ({
            id,
            title,
            content: <Snippet what={title} code={code(ids)} />,
          }))}
        />
      </Panel>
      {may('tokens:inspect') && <TokenInspector />}
    </Page>
  );
}
