import { useSession } from '../session.tsx';
import { useMembers } from '../use-members.ts';
import { AvailabilitySelect } from './availability.tsx';
import styles from './shell.module.css';

/** Whether assignment rules give the member conversations in this tenant. */
export function OwnAvailability() {
  const { members } = useMembers();
  const { membership } = useSession();
  const own = members.find(({ id }) => id === membership.member_id);
  if (!own) return null;
  return (
    <div className={styles.availability}>
      <AvailabilitySelect member={own} mayChange />
    </div>
  );
}
