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

/** Headers that may include W3C Trace Context. */
export type Carrier = Readonly<Record<string, string | string[] | undefined>>;

export interface SpanOptions {
  name: string;
  kind?: 'server' | 'producer' | 'consumer';
  /** Contains the parent span of another process; by default the parent is the current span. */
  carrier?: Carrier | undefined;
  attributes?: Attributes;
}

/** Spans of batched work. */
export interface GroupSpans {
  /** Returns the current span, as the origin of an item. */
  here(): Span | undefined;
  /**
   * Runs a group's work in a span. It belongs to the trace of the first item whose trace is sampled. The spans of the
   * other items are linked with it in both directions.
   */
  run<T>(origins: readonly (Span | undefined)[], work: () => Promise<T>): Promise<T>;
}

/** Tracing of a process; absent where it is disabled. */
export interface Spans {
  /** Runs work in a span. An error marks the span as failed, only by its code: messages may contain personal data. */
  inSpan<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  groups(options: SpanOptions): GroupSpans;
  /** Adds attributes to the current span. */
  setAttributes(attributes: Attributes): void;
  fail(span: Span, type: string): void;
  /** Returns the current span as headers for another process. */
  carrier(): Record<string, string> | undefined;
  /** Adds a span to each statement on a connection that has a parent span. */
  watch(client: ClientBase): void;
}

const current = new AsyncLocalStorage<Span>();
const propagator = new W3CTraceContextPropagator();
const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER } as const;

/** Sent together with the following statement, so they take no time of their own. */
const WITHOUT_SPAN = new Set(['BEGIN', 'SELECT set_config']);

/** The promise of a statement, also of a custom query object (`ScopedQuery`). */
const outcomeOf = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : result;

const isSampled = (span: Span | undefined): span is Span =>
  span !== undefined && (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

/** The trace fields of a log line. */
export function traceIds(): { trace_id?: string; span_id?: string } {
  const span = current.getStore();
  if (!isSampled(span)) return {};
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

/** Creates spans. The current span is kept in this module: no global registration, no patched packages. */
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
        const kept = [...new Set(origins.filter(isSampled))];
        const [first, ...others] = kept;
        const span = start(options, below(first ?? origins.find(origin => origin !== undefined)), others);
        if (isSampled(span)) for (const other of others) other.addLink({ context: span.spanContext() });
        return runInSpan(span, work);
      },
    }),
    setAttributes: attributes => void current.getStore()?.setAttributes(attributes),
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
        if (!isSampled(current.getStore())) return query(...args);
        const summary = summarizeSql(typeof args[0] === 'string' ? args[0] : args[0].text);
        if (WITHOUT_SPAN.has(summary)) return query(...args);
        const span = startStatement(summary);
        const result = query(...args);
        Promise.resolve(outcomeOf(result))
          .catch((error: unknown) => failWith(span, error)) // its caller handles it through `result`
          .finally(() => span.end());
        return result;
      }) as typeof client.query;
    },
  };
}
