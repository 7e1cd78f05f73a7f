import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useSession } from '../../session.tsx';
import { useMembers } from '../../use-members.ts';
import type { People } from './event-text.ts';
import { useMacros } from './macros/use-macros.ts';

/** The names that the messages of a conversation need. */
export function usePeople(identity: string): People {
  const { nameOf } = useMembers();
  const { macros } = useMacros();
  const { data: tenant } = useApi('GET /v1/tenant', {}, { isExtra: true });
  const { may } = useSession();
  const { data: rules } = useApi(
    'GET /v1/assignment-rules',
    {},
    { isExtra: true, enabled: may('assignment-rules:read') },
  );
  return useMemo(() => {
    const names = new Map(macros.map(({ id, name }) => [id, name]));
    const macroName = (id: string) => names.get(id);
    const ruleName = (id: string) => rules?.data.find(rule => rule.id === id)?.name;
    const fieldLabel = (key: string) => tenant?.custom_fields.find(field => field.key === key)?.label ?? key;
    return { identity, nameOf, macroName, ruleName, fieldLabel, timeZone: tenant?.timezone };
  }, [identity, nameOf, macros, rules, tenant]);
}
