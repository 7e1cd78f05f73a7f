import { jsonPointer } from './validation.ts';

/** Counts the members of all objects in a parsed JSON document. Recurses as deep as the document. */
function countMembers(document: unknown): number {
  if (typeof document !== 'object' || document === null) return 0;
  if (Array.isArray(document)) return document.reduce((sum: number, item) => sum + countMembers(item), 0);
  let count = 0;
  for (const name in document) count += 1 + countMembers(document[name as never]);
  return count;
}

/** The end of a string and a colon: every member name ends like this. Texts with an escaped quote may, too. */
const NAME_ENDS = /"[\t\n\r ]*:/g;

/** Strings and punctuation of a JSON text; numbers and literals are skipped. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/**
 * Returns the JSON pointer of a member that its object has twice; `undefined` when there is none. `text` must be valid
 * JSON, and `document` its parsed value, which has only the last of such members.
 *
 * A text without repeated members has as many names as the document has members. So almost all texts are only counted.
 */
export function findRepeatedMember(text: string, document: unknown): string | undefined {
  const names = text.match(NAME_ENDS)?.length ?? 0;
  return names === countMembers(document) ? undefined : scanForRepeated(text);
}

/** An object or array that the scan is in: its names so far, and the name or index of the current value. */
interface Level {
  names: Set<string> | undefined;
  at: string | number;
}

function scanForRepeated(text: string): string | undefined {
  const levels: Level[] = [];
  let lastString = '';
  for (const [token] of text.matchAll(TOKENS)) {
    const level = levels.at(-1);
    if (token === '{') levels.push({ names: new Set(), at: '' });
    else if (token === '[') levels.push({ names: undefined, at: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',' && level && !level.names) level.at = Number(level.at) + 1;
    else if (token === ':' && level?.names) {
      level.at = JSON.parse(lastString) as string;
      if (level.names.has(level.at)) return jsonPointer(levels.map(({ at }) => at));
      level.names.add(level.at);
    } else if (token.startsWith('"')) lastString = token;
  }
  return undefined;
}

/** Returns JSON with sorted member names, so that equal values have equal texts. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
