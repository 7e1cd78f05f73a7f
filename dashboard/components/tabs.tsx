import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import styles from './tabs.module.css';

/** Tabs within a page. */
export const Tabs = ({ label, tabs }: { label: string; tabs: { id: string; title: string; content: ReactNode }[] }) => (
  <AriaTabs className={styles.tabs}>
    <TabList aria-label={label} className={styles.list}>
      {tabs.map(({ id, title }) => (
        <Tab key={id} id={id} className={styles.tab}>
          {title}
        </Tab>
      ))}
    </TabList>
    {tabs.map(({ id, content }) => (
      <TabPanel key={id} id={id}>
        {content}
      </TabPanel>
    ))}
  </AriaTabs>
);

/** Tabs that link to pages. The tab of the present page is in view, however many there are before it. */
export function PageTabs({ label, tabs }: { label: string; tabs: { href: string; title: string }[] }) {
  const [here] = useLocation();
  const links = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the present page decides which tab is current
  useLayoutEffect(() => {
    const list = links.current;
    const tab = list?.querySelector('[aria-current]')?.getBoundingClientRect();
    if (list && tab)
      list.scrollLeft += tab.left + tab.width / 2 - list.getBoundingClientRect().left - list.clientWidth / 2;
  }, [here]);
  return (
    <nav ref={links} aria-label={label} className={styles.links}>
      {tabs.map(({ href, title }) => (
        <Link key={href} href={href} className={styles.tab} aria-current={here === href ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
