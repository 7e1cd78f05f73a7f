import type { Member } from '../api/names.ts';
import { t } from '../i18n.ts';

interface MemberOptionsProps {
  members: readonly Member[];
  /** The selected member, listed even after leaving the team. */
  chosen?: string | null;
}

/** A select's options for members. */
export const MemberOptions = ({ members, chosen }: MemberOptionsProps) => (
  <>
    {chosen && !members.some(({ id }) => id === chosen) && <option value={chosen}>{t('Former member')}</option>}
    {members.map(({ id, name, email }) => (
      <option key={id} value={id}>
        {name || email}
      </option>
    ))}
  </>
);
