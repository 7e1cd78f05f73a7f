import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useSession } from '../../session.tsx';
import type { People } from './event-text.ts';
import { useMacros } from './macros/use-macros.ts';
import { useMembers } from './use-members.ts';
import { useTimeZone } from './use-time-zone.ts';

/** The names that the messages of a conversation need. */
export function usePeople(identity: string): People {
  const { nameOf } = useMembers();
  const { macros } = useMacros();
  const timeZone = useTimeZone();
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
    return { identity, nameOf, macroName, ruleName, timeZone };
  }, [identity, nameOf, macros, rules, timeZone]);
}
