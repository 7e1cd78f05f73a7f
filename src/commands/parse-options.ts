import { parseInput, type Schema } from '../domain/validation.ts';
import { UsageError } from './usage-error.ts';

/**
 * Parses options as fields of the API. Throws a usage error with a line for each fault, which names the option:
 * `expires_at` is `--expires-at`, unless `given` has another name for the field.
 */
export function parseOptions<T>(
  schema: Schema<T>,
  fields: Record<string, unknown>,
  given: Record<string, string> = {},
): T {
  const parsed = parseInput(schema, fields);
  if (parsed.success) return parsed.data;
  const nameOf = (field: string) => given[field] ?? `--${field.replaceAll('_', '-')}`;
  const lines = parsed.faults.map(({ path, detail }) => `${nameOf(String(path[0]))}: ${detail}`);
  throw new UsageError([...new Set(lines)].join('\n'));
}
