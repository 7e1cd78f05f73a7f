import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { identityPath } from '../../components/identity-link.tsx';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { firstText } from '../../words.ts';
import styles from './home.module.css';

const EVERY_MS = 10_000;
const SHOWN = 5;

/** The latest comments on all questions. */
export function NewComments() {
  const query = useApi('GET /v1/answers', { query: { written: true, limit: SHOWN } }, { everyMs: EVERY_MS });
  return (
    <Panel title={t('New comments')}>
      <Ready query={query} lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <>
              <p>
                <Link href={pathTo('insights')}>{t('All comments')}</Link>
              </p>
              <ul className={styles.rows}>
                {data.map(({ id, identity, identity_verified, received_at, ...answer }) => (
                  <li key={id}>
                    <span className="wrap-anywhere" dir="auto">
                      {firstText(answer)}
                    </span>
                    <span className={`small quiet ${styles.spread}`}>
                      <Link href={identityPath(identity, identity_verified)} className={styles.one}>
                        <bdi>{identity}</bdi>
                      </Link>
                      <Time at={received_at} />
                    </span>
                  </li>
                ))}
              </ul>
            </>
          ) : (
            <Empty title={t('No comments')}>{t('Comments of your users appear here.')}</Empty>
          )
        }
      </Ready>
    </Panel>
  );
}
