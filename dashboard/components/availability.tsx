import { useAct } from '../api/hooks.ts';
import type { Member } from '../api/names.ts';
import { t } from '../i18n.ts';
import { useSession } from '../session.tsx';
import { Filter } from './fields/fields.tsx';
import { showProblem } from './toast.tsx';

const nameOf = (availability: Member['availability']): string =>
  ({ active: t('Available'), away: t('Away') })[availability];

interface AvailabilityProps {
  member: Pick<Member, 'id' | 'name' | 'email' | 'availability'>;
  mayChange: boolean;
}

/** Whether assignment rules give a member conversations, with the way to change it. */
export function AvailabilitySelect({ member: { id, name, email, availability }, mayChange }: AvailabilityProps) {
  const patch = useAct('PATCH /v1/members/{id}');
  const { membership } = useSession();
  if (!mayChange) return <span>{nameOf(availability)}</span>;
  const change = (next: Member['availability']) =>
    patch.mutate({ params: { id }, body: { availability: next } }, { onError: showProblem });
  return (
    <Filter
      small
      label={
        id === membership.member_id ? t('Your availability') : t('Availability of {name}', { name: name || email })
      }
      value={availability}
      disabled={patch.isPending}
      onChange={event => change(event.target.value as Member['availability'])}
    >
      <option value="active">{nameOf('active')}</option>
      <option value="away">{nameOf('away')}</option>
    </Filter>
  );
}
