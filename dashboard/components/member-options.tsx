import type { Member } from '../api/names.ts';
import { useMembers } from '../use-members.ts';

interface MemberOptionsProps {
  members: readonly Member[];
  /** The selected member, listed even if they are none of `members`. */
  chosen?: string | null;
}

/** A select's options for members. */
export function MemberOptions({ members, chosen }: MemberOptionsProps) {
  const { nameOf } = useMembers();
  return (
    <>
      {chosen && !members.some(({ id }) => id === chosen) && <option value={chosen}>{nameOf(chosen)}</option>}
      {members.map(({ id, name, email }) => (
        <option key={id} value={id}>
          {name || email}
        </option>
      ))}
    </>
  );
}
