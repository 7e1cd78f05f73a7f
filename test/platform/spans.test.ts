import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { createSpans, traceIds } from '../../src/platform/spans.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const spans = createSpans(provider.getTracer('test'));

test('work that fails marks its span by the code or name of the error, never by its message', async () => {
  const failures = [Object.assign(new Error('of ada@example.com'), { code: '23505' }), new TypeError('of Ada')];
  for (const failure of failures)
    await expect(spans.inSpan({ name: 'work' }, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await spans.inSpan({ name: 'work' }, async () => 'done')).toBe('done');
  const seen = exporter.getFinishedSpans().map(({ status, attributes, events }) => [status, attributes, events]);
  expect(seen).toEqual([
    [{ code: SpanStatusCode.ERROR }, { 'error.type': '23505' }, []],
    [{ code: SpanStatusCode.ERROR }, { 'error.type': 'TypeError' }, []],
    [{ code: SpanStatusCode.UNSET }, {}, []],
  ]);
});

test('log lines name the span of sampled work only', async () => {
  const named = await spans.inSpan({ name: 'work' }, async span => [traceIds(), span.spanContext()] as const);
  expect(named[0]).toEqual({ trace_id: named[1].traceId, span_id: named[1].spanId });
  const unsampled = createSpans({
    startSpan: () => trace.wrapSpanContext({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 0 }),
    startActiveSpan: () => undefined as never,
  });
  expect(await unsampled.inSpan({ name: 'work' }, async () => traceIds())).toEqual({});
  expect(traceIds()).toEqual({});
  expect(trace.getSpan(ROOT_CONTEXT)).toBeUndefined(); // without a global registration
});
