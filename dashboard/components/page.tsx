import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import type { ApiProblem } from '../api/problem.ts';
import { t } from '../i18n.ts';
import { Icon } from './icon.tsx';
import styles from './page.module.css';
import { ProblemNote } from './problem-note.tsx';

/** Sets the document title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
}

interface PageProps {
  title: string;
  lead?: ReactNode;
  back?: { href: string; label: string };
  actions?: ReactNode;
  children: ReactNode;
}

/** Layout of a page with its only level-1 heading. */
export function Page({ title, lead, back, actions, children }: PageProps) {
  useTitle(title);
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div>
          {back && (
            <Link href={back.href} className={styles.back}>
              <Icon name="back" size={14} /> <span>{back.label}</span>
            </Link>
          )}
          <h1 className="wrap-anywhere">{title}</h1>
          {lead && <div className={styles.lead}>{lead}</div>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section of a page with an optional heading. */
export const Panel = ({ title, lead, children }: { title?: ReactNode; lead?: ReactNode; children: ReactNode }) => (
  <section className={styles.panel}>
    {title && (
      <div className={styles.panelHead}>
        <h2>{title}</h2>
        {lead && <p className="quiet">{lead}</p>}
      </div>
    )}
    <div className={styles.panelBody}>{children}</div>
  </section>
);

/** Empty state with an explanation and an action. */
export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <div className={styles.empty}>
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
);

/** Loading placeholder. */
export const Loading = ({ lines = 3 }: { lines?: number }) => (
  <div className={styles.loading} role="status">
    <p className="hidden-text">{t('Loading…')}</p>
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
      <span key={line} />
    ))}
  </div>
);

interface Query<Data> {
  data: Data | undefined;
  error: ApiProblem | null;
  refetch(): unknown;
}

/** Renders the data, a loading placeholder or the problem. Data stays visible when a later refetch fails. */
export function Ready<Data>({
  query,
  children,
  lines,
}: {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
  lines?: number;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ProblemNote problem={query.error} retry={() => void query.refetch()} />;
  return <Loading lines={lines} />;
}
