import type { ReactNode } from 'react';
import { BASE } from '../paths.ts';
import styles from './front.module.css';
import { useTitle } from './page.tsx';
import { LanguageSelect, ThemeSelect } from './preferences.tsx';

/** Product logo and name. */
export const Brand = () => (
  <span className={styles.brand}>
    <img src={`${BASE}/icon.svg`} alt="" width="28" height="28" />
    Parley
  </span>
);

/** Layout of the pages without a session: one centered card. */
export function Front({ title, lead, children }: { title?: string; lead?: ReactNode; children: ReactNode }) {
  useTitle(title ?? 'Parley');
  return (
    <div className={styles.front}>
      <main className={styles.main}>
        <Brand />
        <div className={styles.card}>
          {title && (
            <div>
              <h1>{title}</h1>
              {lead && <p className="quiet">{lead}</p>}
            </div>
          )}
          {children}
        </div>
      </main>
      <footer className={styles.foot}>
        <LanguageSelect />
        <ThemeSelect />
      </footer>
    </div>
  );
}
