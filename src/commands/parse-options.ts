import { jsonPointer, parseInput, type Schema } from '../domain/validation.ts';
import { UsageError } from './usage-error.ts';

/** Parses options as fields of the API: `expires_at` is `--expires-at`. Throws a usage error with a line for each fault. */
export function parseOptions<T>(schema: Schema<T>, fields: Record<string, unknown>): T {
  const parsed = parseInput(schema, fields);
  if (parsed.success) return parsed.data;
  const lines = parsed.faults.map(({ path, detail }) => `--${nameOf(path)}: ${detail}`);
  throw new UsageError([...new Set(lines)].join('\n'));
}

const nameOf = (path: readonly PropertyKey[]): string =>
  jsonPointer(path).slice(1).replaceAll('/', '.').replaceAll('_', '-');
