/** Names this short are too close to other programs' variables. */
const SHORTEST_NAME = 8;
const MOST_EDITS = 2;

/** Variables that resemble a setting and have a meaning of their own: the chart builds DATABASE_URL from it. */
const UNRELATED = new Set(['DATABASE_PORT']);

/** Returns the number of letters to insert, delete, replace or swap with their neighbour, or more than `most`. */
function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= other.length; column++) {
      const replaced = at(row - 1, column - 1) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(one.length, other.length);
}

/** Two edits only count if the first letter is right: AMQP_URL is not SMTP_URL. */
const resembles = (name: string, setting: string): boolean =>
  editDistance(name, setting, MOST_EDITS) <= (name[0] === setting[0] ? MOST_EDITS : 1);

/**
 * Returns a warning for each variable that is one or two letters from a setting: a misspelt `QUEUE_DURABILITY` leaves the
 * default in force. It may also be a variable of another program, so it is no fault. Empty variables count as absent.
 */
export function findMisspelt(environment: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const known = new Set(settings);
  const long = settings.filter(setting => setting.length >= SHORTEST_NAME);
  return Object.entries(environment)
    .filter(([name, value]) => value && !known.has(name) && !UNRELATED.has(name))
    .flatMap(([name]) => {
      const meant = long.find(setting => resembles(name, setting));
      return meant ? [`${name}: is not a setting and is ignored. If you mean ${meant}, correct the name`] : [];
    });
}
