'use client';

import {
  type CSSProperties,
  createElement,
  type DetailedHTMLProps,
  type HTMLAttributes,
  type ReactElement,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import type { Client } from '../client.ts';
import { countUnread } from '../conversations.ts';
import { type AnswerDetail, defineFeedback, type FeedbackElement } from '../feedback/index.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Card, CardQuery, NewAnswer, Placement } from '../types.ts';

/** Attributes of `<parley-feedback>` in JSX. React 19 sets `client` and `outbox` as properties. */
export interface FeedbackAttributes extends DetailedHTMLProps<HTMLAttributes<FeedbackElement>, FeedbackElement> {
  client?: Client | undefined;
  outbox?: Outbox | undefined;
  context?: NewAnswer['metadata'] | undefined;
  limit?: number;
  'app-version'?: string;
  placement?: Placement;
  opens?: string;
  question?: string;
  label?: string;
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'parley-feedback': FeedbackAttributes;
    }
  }
}

export interface FeedbackProps {
  client: Client;
  outbox: Outbox;
  /** Maximum number of cards. */
  limit?: number;
  /** Comes before those of the question and the tenant. Others than `inline` need `addPlacements()`. */
  placement?: Placement;
  /** CSS selector of the elements that open the cards, with `placement="button"`. */
  opens?: string;
  /** Shows only this question. */
  question?: string;
  /** Text of the tab, with `placement="button"`. */
  label?: string;
  /** Version of your app, stored with answers. */
  appVersion?: string;
  /** Up to 18 fields of your own, stored with the answers to cards displayed from now on. More throw `invalid-argument`. */
  context?: NewAnswer['metadata'];
  lang?: string;
  className?: string;
  style?: CSSProperties;
  /** Called when the user has sent or dismissed a card, with its values and comment. */
  onAnswer?: (answer: AnswerDetail) => void;
  /** Called with the number of cards after each fetch. */
  onCards?: (count: number) => void;
  /** Called after the last card. */
  onDone?: () => void;
  onError?: (error: unknown) => void;
}

/** The view of the user's cards; takes no space without cards. Renders an empty element on the server. */
export function Feedback(props: FeedbackProps): ReactElement {
  const { client, outbox, context, limit, appVersion, placement, opens, question, label } = props;
  const { lang, className, style } = props;
  const [node, setNode] = useState<FeedbackElement | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (node) node.context = context; // before the element starts, below
  });
  useEffect(() => {
    if (!node) return;
    const { onAnswer, onCards, onDone, onError } = {
      onAnswer: (event: CustomEvent<AnswerDetail>) => latest.current.onAnswer?.(event.detail),
      onCards: (event: CustomEvent<{ count: number }>) => latest.current.onCards?.(event.detail.count),
      onDone: () => latest.current.onDone?.(),
      onError: (event: CustomEvent<{ error: unknown }>) => latest.current.onError?.(event.detail.error),
    };
    node.addEventListener('parley-answer', onAnswer);
    node.addEventListener('parley-cards', onCards);
    node.addEventListener('parley-done', onDone);
    node.addEventListener('parley-error', onError);
    defineFeedback();
    Object.assign(node, { client, outbox });
    return () => {
      node.removeEventListener('parley-answer', onAnswer);
      node.removeEventListener('parley-cards', onCards);
      node.removeEventListener('parley-done', onDone);
      node.removeEventListener('parley-error', onError);
    };
  }, [node, client, outbox]);
  const attributes = {
    limit,
    'app-version': appVersion,
    placement,
    opens,
    question,
    label,
    lang,
    class: className,
    style,
  };
  return createElement('parley-feedback', { ...attributes, ref: setNode } as never);
}

/** A value that is fetched for the current user. */
interface Fetched<T> {
  /** Undefined until the first response, and after the user changed. */
  value: T | undefined;
  error: unknown;
  reload(): void;
}

/** Fetches a value now, after a user change, when the tab is shown again, and in intervals. */
function useFetched<T>(client: Client, fetch: (signal: AbortSignal) => Promise<T>, everyMs: number): Fetched<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown }>({});
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn(before => before + 1), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` requests another fetch
  useEffect(() => {
    const cancel = new AbortController();
    fetch(cancel.signal).then(
      value => !cancel.signal.aborted && setState({ value }),
      error => !cancel.signal.aborted && setState(before => ({ ...before, error })),
    );
    return () => cancel.abort();
  }, [fetch, turn]);

  useEffect(() => {
    const onVisibility = () => document.visibilityState === 'visible' && reload();
    const timer = setInterval(onVisibility, Math.min(everyMs, 2e9)); // one of more than 24 days, such as Infinity, has no pauses
    document.addEventListener('visibilitychange', onVisibility);
    const unsubscribe = client.onLogout(() => {
      setState({});
      reload();
    });
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisibility);
      unsubscribe();
    };
  }, [client, everyMs, reload]);
  return { value: state.value, error: state.error, reload };
}

export interface Cards {
  /** The user's cards; empty before the first response. */
  cards: Card[];
  isLoading: boolean;
  error: unknown;
  reload(): void;
}

/** The user's cards, for an interface of your own (`createCardSession`). Fetched again every minute in a visible tab. */
export function useCards(client: Client, query: CardQuery = {}): Cards {
  const { locale, platform, app_version, limit } = query;
  const fetch = useCallback(
    (signal: AbortSignal) =>
      client.listCards(JSON.parse(JSON.stringify({ locale, platform, app_version, limit })), { signal }),
    [client, locale, platform, app_version, limit],
  );
  const { value, error, reload } = useFetched(client, fetch, 60_000);
  return { cards: value ?? [], isLoading: value === undefined && error === undefined, error, reload };
}

/** The number of conversations with unread messages; undefined until it is known. Fetched again every minute in a visible tab. */
export function useUnreadCount(client: Client, { everyMs = 60_000 }: { everyMs?: number } = {}): number | undefined {
  const fetch = useCallback((signal: AbortSignal) => countUnread(client, { signal }), [client]);
  return useFetched(client, fetch, everyMs).value;
}
