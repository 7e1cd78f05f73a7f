import { Loading, Page, Ready } from '../../components/page.tsx';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { DemoNote } from './demo-note.tsx';
import { GettingStarted } from './getting-started.tsx';
import { Health } from './health.tsx';
import styles from './home.module.css';
import { NewComments } from './new-comments.tsx';
import { useProgress } from './progress.ts';
import { Scores } from './scores.tsx';
import { Mine, WaitingLongest } from './waiting.tsx';

/**
 * Home page by role: conversations for those who reply, scores and comments for all, and the state of the ingestion for
 * admins. Until the first answer is stored, admins see the setup steps instead.
 */
export function Home() {
  const progress = useProgress();
  const { may } = useSession();
  if (!progress.ingestion.data) {
    return (
      <Page title={t('Home')}>
        <Ready query={progress.ingestion}>{() => <Loading />}</Ready>
      </Page>
    );
  }
  if (!progress.stored && may('api-keys:manage')) return <GettingStarted progress={progress} />;
  return (
    <Page title={t('Home')}>
      <DemoNote />
      <div className={styles.home}>
        {may('conversations:write') && (
          <>
            <WaitingLongest />
            <Mine />
          </>
        )}
        <Scores />
        <NewComments />
        {may('api-keys:manage') && <Health ingestion={progress.ingestion.data} />}
      </div>
    </Page>
  );
}
