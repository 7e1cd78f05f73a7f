import { randomUUID } from 'node:crypto';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { getNumberFromEnv, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { BUILD } from './build-info.ts';
import type { Config } from './config.ts';
import { createThrottle, type Log } from './log.ts';
import { createSpans, type Spans } from './spans.ts';
import { withTimeout } from './timeouts.ts';

export { traceIds } from './spans.ts';

export interface Tracing extends Spans {
  /** Sends the remaining spans. Gives up after 2.5 s, and never rejects. */
  close(): Promise<void>;
}

const SERVICE_NAMES = { start: 'parley', serve: 'parley-api', work: 'parley-worker' } as const;
/** Above the number of requests in one flush, each of which is linked. */
const MAX_LINKS = 256;
const CLOSE_TIMEOUT_MS = 2500;
const COMPLAIN_EVERY_MS = 60_000;

const resourceOf = (role: keyof typeof SERVICE_NAMES) =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': SERVICE_NAMES[role],
        'service.version': BUILD.version,
        'service.instance.id': randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));

function createSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Config): Sampler {
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** Logs errors of the exporter, one line per minute. Lost traces affect no other function. */
function reportTo(log: Log): (error: unknown) => void {
  const throttle = createThrottle(COMPLAIN_EVERY_MS);
  return error => {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    throttle('', held => log.warn({ reason, held_back: held }, 'could not export traces'));
  };
}

/**
 * Opens tracing for a role, exported by OTLP over HTTP.
 *
 * The packages read the `OTEL_` variables that are not in `Config`: endpoint, headers, certificates, time-outs,
 * batches, service attributes. The process never waits for the exporter: spans that it cannot send in time are dropped.
 */
export function openTracing(role: keyof typeof SERVICE_NAMES, config: Config, log: Log): Tracing {
  const report = reportTo(log);
  const ignore = () => undefined;
  diag.setLogger({ error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  setGlobalErrorHandler(report);
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    maxQueueSize: getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: getNumberFromEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    scheduledDelayMillis: getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: getNumberFromEnv('OTEL_BSP_EXPORT_TIMEOUT'),
  });
  const provider = new TracerProvider({
    resource: resourceOf(role),
    sampler: createSampler(config),
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [processor],
  });
  return {
    ...createSpans(provider.getTracer('parley', BUILD.version)),
    close: () => withTimeout(provider.shutdown(), CLOSE_TIMEOUT_MS, 'exporting the remaining traces').catch(report),
  };
}
