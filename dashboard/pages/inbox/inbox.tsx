import { useRef, useState } from 'react';
import { Redirect, useParams } from 'wouter';
import { useList } from '../../api/hooks.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Ready, useTitle } from '../../components/page.tsx';
import { More } from '../../components/table.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useShortcuts } from '../../shortcuts.ts';
import { BulkBar } from './bulk/bulk-bar.tsx';
import { isBuiltIn, isView, type SavedView, type View } from './filters.ts';
import styles from './inbox.module.css';
import { InboxHead } from './inbox-head.tsx';
import { InboxList } from './inbox-list.tsx';
import { NewConversation } from './new-conversation.tsx';
import { PersonPanel } from './person-panel.tsx';
import { ShortcutsHelp } from './shortcuts-help.tsx';
import { Thread } from './thread.tsx';
import { useAddress } from './use-address.ts';
import { usePicking } from './use-picking.ts';
import { useViews } from './views/use-views.ts';
import { ViewActions } from './views/view-actions.tsx';
import { ViewsNav } from './views/views-nav.tsx';

const EVERY_MS = 3000;
const PAGE = 50;

const Nothing = ({ list, isFiltered }: { list: Parameters<typeof More>[0]['list']; isFiltered: boolean }) => (
  <div className={styles.side}>
    {list.hasNextPage ? (
      <More list={list} />
    ) : (
      <Empty title={isFiltered ? t('No matching conversations') : t('No open conversations')}>
        {isFiltered ? t('Try different filters.') : t('Messages from users appear here.')}
      </Empty>
    )}
  </div>
);

const NothingOpen = () => (
  <div className={`${styles.side} ${styles.nothing}`}>
    <Icon name="inbox" size={36} />
    <Empty title={t('No conversation selected')}>{t('Select a conversation from the list.')}</Empty>
  </div>
);

interface InboxProps {
  view: View;
  views: readonly SavedView[];
  id: string | undefined;
}

/** List of conversations with the selected one next to it. */
function InboxView({ view, views, id }: InboxProps) {
  useTitle(t('Inbox'));
  const saved = views.find(one => one.id === view);
  const address = useAddress(view, saved, id);
  const { filters, change, query, present, isChanged, assignee, chooseAssignee, addressOf, open, reset } = address;
  const [dialog, setDialog] = useState<'help' | 'new'>();
  const search = useRef<HTMLDivElement>(null);
  const list = useList('GET /v1/conversations', { query }, { limit: PAGE, everyMs: EVERY_MS });
  const { items } = list;
  const { selection, keys, toggle } = usePicking(items, JSON.stringify(query), id);
  const at = items.findIndex(conversation => conversation.id === id);
  const step = (by: 1 | -1) => open(items[at < 0 ? 0 : at + by]?.id);
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    '/': () => search.current?.querySelector('input')?.focus(),
    '?': () => setDialog('help'),
    ...keys,
  });
  const neighbours = {
    inbox: addressOf(undefined),
    addressOf,
    here: addressOf(id),
    next: addressOf(at < 0 ? items[0]?.id : (items[at + 1] ?? items[at - 1])?.id),
  };
  const isFiltered = view !== 'all' || isChanged || filters.q !== '';
  return (
    <div className={id ? `${styles.inbox} ${styles.open}` : styles.inbox}>
      <h1 className="hidden-text">{t('Inbox')}</h1>
      <section className={styles.pane} aria-label={t('Conversations')}>
        <InboxHead
          {...{ filters, change, assignee, chooseAssignee, search }}
          help={() => setDialog('help')}
          write={toggle && (() => setDialog('new'))}
          views={<ViewsNav here={view} saved={views} />}
          actions={toggle && <ViewActions {...{ saved, isChanged, present, reset }} />}
        />
        {toggle ? (
          <BulkBar selection={selection} loaded={items.length} hasMore={list.hasNextPage} query={query} />
        ) : (
          <span />
        )}
        <Ready query={list}>
          {() =>
            items.length > 0 ? (
              <InboxList here={id} selected={selection.selected} {...{ items, open, list, toggle }} />
            ) : (
              <Nothing list={list} isFiltered={isFiltered} />
            )
          }
        </Ready>
      </section>
      {id ? (
        <>
          <Thread key={id} id={id} listed={items[at]} neighbours={neighbours} />
          <PersonPanel conversationId={id} listed={items[at]} />
        </>
      ) : (
        <NothingOpen />
      )}
      <Dialog
        title={t('New conversation')}
        isOpen={dialog === 'new'}
        close={() => setDialog(undefined)}
        dismissable="by-key"
      >
        <NewConversation
          done={made => {
            setDialog(undefined);
            open(made);
          }}
        />
      </Dialog>
      <ShortcutsHelp isOpen={dialog === 'help'} close={() => setDialog(undefined)} />
    </div>
  );
}

/** The inbox. Addresses of earlier versions have no view: the conversation follows at once. */
export function Inbox() {
  const { view = 'all', id } = useParams();
  const saved = useViews();
  if (!isView(view)) return <Redirect to={`${pathTo('conversation', { id: view })}${location.search}`} replace />;
  if (isBuiltIn(view)) return <InboxView view={view} views={saved.items} id={id} />;
  return (
    <Ready query={saved}>
      {() =>
        saved.items.some(one => one.id === view) ? (
          <InboxView view={view} views={saved.items} id={id} />
        ) : (
          <Redirect to={pathTo('inbox', { view: 'all' })} replace /> // it was deleted
        )
      }
    </Ready>
  );
}
