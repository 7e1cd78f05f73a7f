import { Link } from 'wouter';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import styles from './composer.module.css';

/** In place of the composer of a merged conversation: the way to the one that continues it. */
export const MergedNote = ({ into }: { into: string }) => (
  <div className={styles.composer}>
    <Note>
      <p>{t('This conversation was merged. Later messages are in the other one.')}</p>
      <p>
        <Link href={into}>{t('Open the other conversation')}</Link>
      </p>
    </Note>
  </div>
);
