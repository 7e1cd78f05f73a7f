import type { VersionWithChanges } from '../../../api/names.ts';
import type { Schemas } from '../../../api/schema.ts';

type FollowUp = Schemas['FollowUp'];
type VersionChange = Schemas['VersionChange'];

/** The parts of a version that its changes are about. */
export type Content = Pick<VersionWithChanges, 'type' | 'title' | 'config' | 'follow_ups' | 'thanks' | 'translations'>;

/** Returns the names in a JSON pointer. */
export const namesIn = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Returns the keys of the steps before and after a version's changes. */
export function stepKeys(
  { follow_ups }: Content,
  changes: readonly VersionChange[],
): [before: string[], now: string[]] {
  const now = follow_ups.map(({ key }) => key);
  const order = changes.find(({ pointer }) => pointer === '/follow_ups');
  return [order ? ((order.before ?? []) as string[]) : now, now];
}

/** Returns an object with the values that it had before its changes. */
function reverted<Part extends object>(part: Part, changes: readonly VersionChange[], at: string): Part {
  const old = { ...part } as Record<string, unknown>;
  for (const { pointer, before } of changes) {
    const names = pointer.startsWith(`${at}/`) ? namesIn(pointer.slice(at.length)) : [];
    if (names.length !== 1) continue;
    const [name] = names as [string];
    if (before === null) delete old[name];
    else old[name] = before;
  }
  return old as Part;
}

const NO_STEP: Omit<FollowUp, 'key'> = {
  type: 'text',
  title: '',
  description: '',
  config: {} as FollowUp['config'],
  required: false,
  show_if: null,
};

/**
 * Returns the title, the config and the steps that a question had before the changes of a version: the version itself
 * with its changes undone. The version before may not have been read yet.
 */
export function earlierContent(version: Content, changes: readonly VersionChange[]): Content {
  const [keys] = stepKeys(version, changes);
  const config = <Part extends { config: Schemas['QuestionConfig'] }>(part: Part, at: string): Part => ({
    ...part,
    config: reverted(part.config, changes, `${at}/config`),
  });
  const steps = keys.map(key => {
    const now = version.follow_ups.find(step => step.key === key);
    const at = `/follow_ups/${key}`;
    return { ...NO_STEP, ...config(reverted(now ?? { ...NO_STEP, key }, changes, at), at) };
  });
  return { ...config(reverted(version, changes, ''), ''), follow_ups: steps };
}
