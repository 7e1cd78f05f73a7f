import { useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { useApi, useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import fields from '../../components/fields/fields.module.css';
import { Filter, Search } from '../../components/fields/fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Ready, useTitle } from '../../components/page.tsx';
import { More } from '../../components/table.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { shortcutsAreOn, switchShortcuts, useShortcuts } from '../../shortcuts.ts';
import { type ConversationStatus, conversationStatus } from '../../words.ts';
import styles from './inbox.module.css';
import { InboxList } from './inbox-list.tsx';
import { NewConversation } from './new-conversation.tsx';
import { Thread } from './thread.tsx';

type Conversation = Schemas['Conversation'];

const EVERY_MS = 3000;
const PAGE = 50;
const STATUSES: ConversationStatus[] = ['open', 'pending', 'resolved'];

interface Filters {
  status: ConversationStatus | '';
  assignee: string;
  tag: string;
  unread: boolean;
  q: string;
}

const queryOf = ({ status, assignee, tag, unread, q }: Filters) => ({
  status: status || undefined,
  assignee: assignee || undefined,
  tag: tag.trim() || undefined,
  unread: unread || undefined,
  q: q.trim() || undefined,
});

/**
 * Conversations that match the filters, latest activity first.
 *
 * Activity moves a conversation to the top, so only the first page is polled; it replaces the same rows in older pages.
 */
function useConversations(filters: Filters) {
  const query = queryOf(filters);
  const list = useList('GET /v1/conversations', { query }, { limit: PAGE });
  const top = useApi('GET /v1/conversations', { query: { ...query, limit: PAGE } }, { everyMs: EVERY_MS });
  const newest: Conversation[] = top.data?.data ?? [];
  const known = new Set(newest.map(({ id }) => id));
  const older = top.data?.has_more === false ? [] : list.items.filter(({ id }) => !known.has(id));
  return { list, items: [...newest, ...older] };
}

/** Filter options: all, own, unassigned and the first 100 members. */
function AssigneeOptions() {
  const { data } = useApi('GET /v1/members', { query: { limit: 100 } });
  const { membership } = useSession();
  const others = data?.data.filter(({ id }) => id !== membership.member_id) ?? [];
  return (
    <>
      <option value="">{t('All assignees')}</option>
      <option value={membership.member_id}>{t('Assigned to me')}</option>
      <option value="none">{t('Unassigned')}</option>
      {others.map(({ id, name, email }) => (
        <option key={id} value={id}>
          {name || email}
        </option>
      ))}
    </>
  );
}

interface HeadProps {
  filters: Filters;
  change(filters: Partial<Filters>): void;
  search: React.RefObject<HTMLDivElement | null>;
  help(): void;
  /** Absent without write permission. */
  write?: () => void;
}

const Head = ({ filters, change, search, help, write }: HeadProps) => (
  <div className={styles.head}>
    <div className="spread">
      <span className={styles.title} aria-hidden="true">
        {t('Inbox')}
      </span>
      <span className="row">
        <Button icon small look="quiet" aria-label={t('Keyboard shortcuts')} onPress={help}>
          <Icon name="keys" />
        </Button>
        {write && (
          <Button small onPress={write}>
            <Icon name="plus" size={15} /> {t('New message')}
          </Button>
        )}
      </span>
    </div>
    <div ref={search}>
      <Search
        label={t('Search conversations')}
        value={filters.q}
        onChange={event => change({ q: event.target.value })}
      />
    </div>
    <div className={styles.filters}>
      <Filter
        small
        label={t('Status')}
        value={filters.status}
        onChange={event => change({ status: event.target.value as Filters['status'] })}
      >
        <option value="">{t('All statuses')}</option>
        {STATUSES.map(status => (
          <option key={status} value={status}>
            {conversationStatus(status)}
          </option>
        ))}
      </Filter>
      <Filter
        small
        label={t('Assignee')}
        value={filters.assignee}
        onChange={event => change({ assignee: event.target.value })}
      >
        <AssigneeOptions />
      </Filter>
      <input
        className={`${fields.input} ${fields.small}`}
        aria-label={t('Tag')}
        placeholder={t('Tag')}
        value={filters.tag}
        onChange={event => change({ tag: event.target.value })}
      />
      <label className={styles.check}>
        <input type="checkbox" checked={filters.unread} onChange={event => change({ unread: event.target.checked })} />
        {t('Unread only')}
      </label>
    </div>
  </div>
);

const KEYS = () => [
  ['j', t('Next conversation')],
  ['k', t('Previous conversation')],
  ['r', t('Write a reply')],
  ['n', t('Write an internal note')],
  ['a', t('Assign to me')],
  ['e', t('Resolve or reopen')],
  ['/', t('Search')],
  ['?', t('Show keyboard shortcuts')],
];

function Help({ isOpen, close }: { isOpen: boolean; close(): void }) {
  const [isOn, setOn] = useState(shortcutsAreOn);
  const change = (on: boolean) => {
    switchShortcuts(on);
    setOn(on);
  };
  return (
    <Dialog title={t('Keyboard shortcuts')} isOpen={isOpen} close={close}>
      <dl className={styles.keys}>
        {KEYS().map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>{t('Send')}</dd>
        </div>
      </dl>
      <label className={styles.check}>
        <input type="checkbox" checked={isOn} onChange={event => change(event.target.checked)} />
        {t('Single-key shortcuts are on')}
      </label>
      <div>
        <Button onPress={close}>{t('Close')}</Button>
      </div>
    </Dialog>
  );
}

const NO_FILTERS: Filters = { status: 'open', assignee: '', tag: '', unread: false, q: '' };

/** List of conversations with the selected one next to it. */
export function Inbox() {
  useTitle(t('Inbox'));
  const { id } = useParams();
  const [, go] = useLocation();
  const [filters, setFilters] = useState(NO_FILTERS);
  const [isHelping, setHelping] = useState(false);
  const [isWriting, setWriting] = useState(false);
  const { may } = useSession();
  const search = useRef<HTMLDivElement>(null);
  const { list, items } = useConversations(filters);
  const open = (next: string | undefined) => next && go(pathTo('conversation', { id: next }));
  const step = (by: 1 | -1) => {
    const at = items.findIndex(conversation => conversation.id === id);
    open(items[at < 0 ? 0 : at + by]?.id);
  };
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    '/': () => search.current?.querySelector('input')?.focus(),
    '?': () => setHelping(true),
  });
  const isFiltered = JSON.stringify(filters) !== JSON.stringify(NO_FILTERS);
  return (
    <div className={id ? `${styles.inbox} ${styles.open}` : styles.inbox}>
      <h1 className="hidden-text">{t('Inbox')}</h1>
      <section className={styles.pane} aria-label={t('Conversations')}>
        <Head
          filters={filters}
          change={changes => setFilters({ ...filters, ...changes })}
          search={search}
          help={() => setHelping(true)}
          write={may('conversations:write') ? () => setWriting(true) : undefined}
        />
        <Ready query={list}>
          {() =>
            items.length > 0 ? (
              <InboxList items={items} here={id} open={open} list={list} />
            ) : (
              <div className={styles.side}>
                {list.hasNextPage ? (
                  <More list={list} />
                ) : (
                  <Empty title={isFiltered ? t('No matching conversations') : t('No open conversations')}>
                    {isFiltered ? t('Try different filters.') : t('Messages from users appear here.')}
                  </Empty>
                )}
              </div>
            )
          }
        </Ready>
      </section>
      {id ? (
        <Thread key={id} id={id} />
      ) : (
        <div className={`${styles.side} ${styles.nothing}`}>
          <Icon name="inbox" size={36} />
          <Empty title={t('No conversation selected')}>{t('Select a conversation from the list.')}</Empty>
        </div>
      )}
      <Dialog title={t('New conversation')} isOpen={isWriting} close={() => setWriting(false)} dismissable={false}>
        <NewConversation
          done={made => {
            setWriting(false);
            open(made);
          }}
        />
      </Dialog>
      <Help isOpen={isHelping} close={() => setHelping(false)} />
    </div>
  );
}
