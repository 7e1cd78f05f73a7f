import { createServer } from 'node:http';

/** A span received by the collector, with its resource. Ids are hexadecimal. */
export interface CollectedSpan {
  service: unknown;
  resource: Record<string, unknown>;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  traceId: string;
  id: string;
  /** The id of the parent span; empty for a root span. */
  parent: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; id: string }[];
  /** 2 for an error. */
  status: number;
}

export interface Collector extends AsyncDisposable {
  url: string;
  spans: CollectedSpan[];
  /** The headers of each request. */
  headers: NodeJS.Dict<string | string[]>[];
}

/** A Protocol Buffers field: a number, or the bytes of a string or nested message. */
type Field = number | Buffer;

/** The fields of a message by number. */
function readMessage(bytes: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = varint();
    const [number, type] = [Math.floor(key / 8), key % 8];
    const field = type === 0 ? varint() : take(type === 1 ? 8 : type === 5 ? 4 : varint());
    fields.set(number, [...(fields.get(number) ?? []), field]);
  }
  return fields;
}

type Message = ReturnType<typeof readMessage>;

const messages = (message: Message, number: number): Message[] =>
  (message.get(number) ?? []).map(field => readMessage(field as Buffer));
const bytes = (message: Message, number: number): Buffer => (message.get(number)?.[0] as Buffer) ?? Buffer.alloc(0);
const hex = (message: Message, number: number): string => bytes(message, number).toString('hex');
const integer = (message: Message, number: number): number => (message.get(number)?.[0] as number) ?? 0;

/** The attributes in field `number`: strings and integers, the only types that we use. */
const attributesIn = (message: Message, number: number): Record<string, unknown> =>
  Object.fromEntries(
    messages(message, number).map(pair => {
      const value = readMessage(bytes(pair, 2));
      return [bytes(pair, 1).toString(), value.has(1) ? bytes(value, 1).toString() : integer(value, 3)];
    }),
  );

/** The spans of an `ExportTraceServiceRequest`, by the field numbers of opentelemetry/proto/trace/v1/trace.proto. */
function readSpans(request: Buffer): CollectedSpan[] {
  return messages(readMessage(request), 1).flatMap(group => {
    const resource = attributesIn(readMessage(bytes(group, 1)), 1);
    const spans = messages(group, 2).flatMap(scope => messages(scope, 2));
    return spans.map(span => ({
      service: resource['service.name'],
      resource,
      name: bytes(span, 5).toString(),
      kind: integer(span, 6),
      traceId: hex(span, 1),
      id: hex(span, 2),
      parent: hex(span, 4),
      attributes: attributesIn(span, 9),
      links: messages(span, 13).map(link => ({ traceId: hex(link, 1), id: hex(link, 2) })),
      status: integer(readMessage(bytes(span, 15)), 3),
    }));
  });
}

/** A minimal OpenTelemetry collector for traces over OTLP/HTTP. */
export async function createCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: Collector['headers'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    headers.push(request.headers);
    if (request.url === '/v1/traces') spans.push(...readSpans(Buffer.concat(chunks)));
    response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
