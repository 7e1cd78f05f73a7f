import { useEffect, useMemo } from 'react';
import { useList } from '../../../api/hooks.ts';
import type { Schemas } from '../../../api/schema.ts';

export type Macro = Schemas['Macro'];

/** All macros of the tenant: at most 500. */
export function useMacros(): { macros: Macro[]; isLoading: boolean } {
  const list = useList('GET /v1/macros', {}, { limit: 100 });
  const { data, hasNextPage, isFetchingNextPage, furtherError, fetchNextPage } = list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: fetchNextPage is new on each render
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !furtherError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, furtherError]);
  const macros = useMemo(() => data?.pages.flatMap(page => page.data) ?? [], [data]);
  return { macros, isLoading: data === undefined };
}
