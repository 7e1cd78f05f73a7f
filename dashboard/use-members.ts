import { useEffect, useMemo } from 'react';
import { useList } from './api/hooks.ts';
import type { Member } from './api/names.ts';
import { t } from './i18n.ts';
import { rightsOf } from './rights.ts';

/**
 * All members of the tenant (at most 200), those who may get conversations, and the names by id. Former members have no
 * name.
 */
export function useMembers() {
  const list = useList('GET /v1/members', {}, { limit: 100 });
  const { data, hasNextPage, isFetchingNextPage, furtherError, fetchNextPage } = list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: fetchNextPage is new on each render
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !furtherError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, furtherError]);
  return useMemo(() => {
    const members: Member[] = data?.pages.flatMap(page => page.data) ?? [];
    const names = new Map(members.map(({ id, name, email }) => [id, name || email]));
    const assignable = members.filter(({ role }) => rightsOf(role).has('conversations:write'));
    return { members, assignable, names, nameOf: (id: string) => names.get(id) ?? t('Former member') };
  }, [data]);
}
