import type { ApiProblem, ProblemError } from '../api/problem.ts';
import { fieldErrorText } from '../field-errors.ts';
import { t } from '../i18n.ts';
import { problemText } from '../problem-texts.ts';
import { Button } from './button.tsx';
import styles from './note.module.css';

const placeOf = ({ pointer, parameter }: ProblemError): string => parameter ?? pointer ?? '';

/** Shows a problem: title, detail, validation errors and the request ID for the log. */
export function ProblemNote({ problem, retry }: { problem: ApiProblem; retry?: () => void }) {
  const { title, detail } = problemText(problem);
  return (
    <div role="alert" className={`${styles.note} ${styles.bad}`}>
      <p className={styles.title}>{title}</p>
      <p>{detail}</p>
      {problem.errors.length > 0 && (
        <ul className={styles.faults}>
          {problem.errors.map(error => (
            <li key={placeOf(error) + error.code}>
              <code>{placeOf(error)}</code> <span>{fieldErrorText(error)}</span>
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

/** A highlighted note. */
export const Note = ({
  tone = 'info',
  children,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  children: React.ReactNode;
}) => <div className={`${styles.note} ${styles[tone]}`}>{children}</div>;
