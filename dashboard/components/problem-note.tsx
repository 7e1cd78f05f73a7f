import type { ApiProblem } from '../api/problem.ts';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import styles from './note.module.css';

/** What a problem is called here: the document's own title, or what is known of a reply that never came. */
const titleOf = (problem: ApiProblem): string => {
  if (problem.status === 0) return t('Parley could not be reached');
  return problem.title || t('Request failed (status {status})', { status: problem.status });
};

/** A problem in full: title, detail, each fault with its place, and the request id that finds it in the log. */
export function ProblemNote({ problem, retry }: { problem: ApiProblem; retry?: () => void }) {
  return (
    <div role="alert" className={`${styles.note} ${styles.bad}`}>
      <p className={styles.title}>{titleOf(problem)}</p>
      <p>{problem.message || (problem.status === 0 ? t('Check your connection and try again.') : '')}</p>
      {problem.errors.length > 0 && (
        <ul className={styles.faults}>
          {problem.errors.map(({ pointer, detail }) => (
            <li key={pointer + detail}>
              <code>{pointer}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      {problem.requestId && (
        <p className="small">
          {t('Request ID')} <code className="wrap-anywhere">{problem.requestId}</code>
        </p>
      )}
      {retry && (
        <p>
          <Button small onPress={retry}>
            {t('Try again')}
          </Button>
        </p>
      )}
    </div>
  );
}

/** A remark beside the way: what is good, what deserves care. */
export const Note = ({
  tone = 'info',
  children,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  children: React.ReactNode;
}) => <div className={`${styles.note} ${styles[tone]}`}>{children}</div>;
