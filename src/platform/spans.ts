import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { ClientBase } from 'pg';
import { summarizeSql } from './sql-summary.ts';

export type { Attributes, Span } from '@opentelemetry/api';

/** The headers of W3C Trace Context, beside whatever others. */
export type Carrier = Readonly<Record<string, string | string[] | undefined>>;

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'producer' | 'consumer';
  /** Names the span above, in another process; else it is the current one. */
  carrier?: Carrier | undefined;
  attributes?: Attributes;
}

/** The spans of work that leaves in groups. */
export interface GroupSpans {
  /** Where an item comes from. */
  here(): Span | undefined;
  /**
   * Does the work of a group within a span of its own. It belongs to the trace of the first of the items whose trace is
   * kept; the spans of the others and this one are linked, both ways.
   */
  run<T>(origins: readonly (Span | undefined)[], work: () => Promise<T>): Promise<T>;
}

/** What the seams of a process tell of traces; there is none where nobody asked for them. */
export interface Spans {
  /** Does the work within a span. What it throws marks the span as failed, by its code alone: messages may quote people. */
  inSpan<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  groups(options: SpanOptions): GroupSpans;
  /** Adds to the current span. */
  note(attributes: Attributes): void;
  fail(span: Span, type: string): void;
  /** The current span for another process. */
  carrier(): Record<string, string> | undefined;
  /** Gives each statement on a connection a span, where there is one to stand below. */
  watch(client: ClientBase): void;
}

const current = new AsyncLocalStorage<Span>();
const propagator = new W3CTraceContextPropagator();
const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER } as const;

/** Sent along with the statement that follows, in one flight: they take no time of their own. */
const WITHOUT_SPAN = new Set(['BEGIN', 'SELECT set_config']);

/** The promise of a statement: a query object of our own (`ScopedQuery`) carries it. */
const outcomeOf = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : result;

const isKept = (span: Span | undefined): span is Span =>
  span !== undefined && (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

/** What a line of the log says of the trace that it is written in. */
export function traceIds(): { trace_id?: string; span_id?: string } {
  const span = current.getStore();
  if (!isKept(span)) return {};
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

const below = (span: Span | undefined): Context => (span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT);

function fail(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', type);
}

const failWith = (span: Span, error: unknown): void => {
  const { code, name } = error as { code?: unknown; name?: string };
  fail(span, typeof code === 'string' ? code : (name ?? 'unknown'));
};

async function runInSpan<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await current.run(span, work, span);
  } catch (error) {
    failWith(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The current span is this process's own affair: nothing is registered globally, and no package is patched. */
export function createSpans(tracer: Tracer): Spans {
  const start = ({ name, kind, attributes }: SpanOptions, parent: Context, links: Span[] = []): Span =>
    tracer.startSpan(
      name,
      {
        kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
        attributes,
        links: links.map(span => ({ context: span.spanContext() })),
      },
      parent,
    );

  const startStatement = (summary: string): Span =>
    tracer.startSpan(
      summary,
      { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary } },
      below(current.getStore()),
    );

  return {
    inSpan(options, work) {
      const parent = options.carrier
        ? propagator.extract(ROOT_CONTEXT, options.carrier, defaultTextMapGetter)
        : below(current.getStore());
      return runInSpan(start(options, parent), work);
    },
    groups: options => ({
      here: () => current.getStore(),
      run(origins, work) {
        const kept = [...new Set(origins.filter(isKept))];
        const [first, ...others] = kept;
        const span = start(options, below(first ?? origins.find(origin => origin !== undefined)), others);
        if (isKept(span)) for (const other of others) other.addLink({ context: span.spanContext() });
        return runInSpan(span, work);
      },
    }),
    note: attributes => void current.getStore()?.setAttributes(attributes),
    fail,
    carrier() {
      const span = current.getStore();
      if (!span) return undefined;
      const carrier: Record<string, string> = {};
      propagator.inject(below(span), carrier, defaultTextMapSetter);
      return carrier;
    },
    watch(client) {
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
      client.query = ((...args: [string | { text: string }, ...unknown[]]) => {
        if (!isKept(current.getStore())) return query(...args);
        const summary = summarizeSql(typeof args[0] === 'string' ? args[0] : args[0].text);
        if (WITHOUT_SPAN.has(summary)) return query(...args);
        const span = startStatement(summary);
        const result = query(...args);
        Promise.resolve(outcomeOf(result))
          .catch((error: unknown) => failWith(span, error)) // its caller hears of it from `result`
          .finally(() => span.end());
        return result;
      }) as typeof client.query;
    },
  };
}
