import { useQueryClient } from '@tanstack/react-query';
import { keyOf } from '../../../api/cache.ts';
import { api } from '../../../api/client.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { showProblem } from '../../../components/toast.tsx';
import { useTenantId } from '../../../tenant.ts';
import type { Conversation } from '../conversation-changes.ts';
import { recall } from './recall.ts';
import type { Macro } from './use-macros.ts';

const PROFILE = 'GET /v1/identities/{identity}';
const FRESH_MS = 60_000;

/**
 * Returns a function that fills the variables of a macro's text with the attributes of the user, as the API does: without
 * a verified identity, all have their fallbacks. It resolves with undefined after showing why the profile is missing.
 */
export function useMacroText({ identity, identity_verified: verified }: Conversation) {
  const queries = useQueryClient();
  const tenantId = useTenantId();
  return async ({ body }: Macro): Promise<string | undefined> => {
    if (body === null || !body.includes('{{') || !verified) return recall(body ?? '', {});
    const request = { params: { identity }, query: { verified } };
    const queryFn = () => api(PROFILE, request, tenantId);
    try {
      const profile = await queries.fetchQuery({
        queryKey: keyOf(PROFILE, request, tenantId),
        queryFn,
        staleTime: FRESH_MS,
      });
      return recall(body, profile.body.attributes);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.status === 404) return recall(body, {}); // there is no profile
      showProblem(error);
      return undefined;
    }
  };
}
