import { useQueryClient } from '@tanstack/react-query';
import { keyOf } from '../../api/cache.ts';
import { useTenantId } from '../../tenant.ts';

/** Returns a function that fetches the conversation again, and with it new messages. */
export function useRefetch(conversationId: string): () => void {
  const queries = useQueryClient();
  const tenantId = useTenantId();
  const queryKey = keyOf('GET /v1/conversations/{id}', { params: { id: conversationId } }, tenantId);
  return () => void queries.invalidateQueries({ queryKey });
}
