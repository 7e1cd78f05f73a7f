import { LRUCache } from 'lru-cache';

const NAME = '"?([a-z_][a-z0-9_.]*)';
/** Writing statements. `on conflict do update set` and `for update of` are not writes on their own. */
const WRITE = new RegExp(String.raw`\b(insert into|update|delete from)\s+(?!(?:set|of|skip|nowait)\b)${NAME}`, 'i');
const READ = new RegExp(String.raw`\bfrom\s+${NAME}`, 'i');
const CALL = new RegExp(String.raw`^\s*select\s+${NAME}\s*\(`, 'i');

function makeSummary(sql: string): string {
  const write = WRITE.exec(sql);
  if (write) return `${write[1]?.split(' ')[0]?.toUpperCase()} ${write[2]}`;
  const read = READ.exec(sql) ?? CALL.exec(sql);
  return read ? `SELECT ${read[1]}` : (/\w+/.exec(sql)?.[0].toUpperCase() ?? 'SQL');
}

const summaries = new LRUCache<string, string>({ max: 500 });

/**
 * Returns a short summary of a statement with operation and table, such as `INSERT answers`. It never contains values.
 */
export function summarizeSql(sql: string): string {
  const known = summaries.get(sql);
  if (known) return known;
  const summary = makeSummary(sql);
  summaries.set(sql, summary);
  return summary;
}
