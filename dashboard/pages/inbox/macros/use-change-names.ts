import { useMembers } from '../../../use-members.ts';
import { useCustomFields } from '../use-custom-fields.ts';
import type { ChangeNames } from './change-texts.ts';

/** The names of members and custom fields. A removed field has its key. */
export function useChangeNames(): ChangeNames {
  const { nameOf } = useMembers();
  const definitions = useCustomFields();
  return { nameOf, labelOf: key => definitions.find(field => field.key === key)?.label ?? key };
}
