import { useApi } from '../../api/hooks.ts';
import { useSession } from '../../session.tsx';

/** Poll interval until the setup is complete, and afterwards. */
const SETUP_EVERY_MS = 2000;
const EVERY_MS = 10_000;

/** Polls the progress of the four setup steps. */
export function useProgress() {
  const { may } = useSession();
  const ingestion = useApi('GET /v1/ingestion', {}, { everyMs: SETUP_EVERY_MS });
  const stored = (ingestion.data?.stored ?? 0) > 0;
  const everyMs = stored ? EVERY_MS : SETUP_EVERY_MS;
  const keys = useApi(
    'GET /v1/api-keys',
    { query: { limit: 100 } },
    { everyMs, enabled: may('api-keys:manage') && !stored },
  );
  const live = useApi('GET /v1/questions', { query: { status: 'live', limit: 1 } }, { everyMs, enabled: !stored });
  const usable = keys.data?.data.filter(({ status }) => status === 'active' || status === 'rotating') ?? [];
  const fetched = stored || (ingestion.data?.first_card_at ?? null) !== null;
  return {
    ingestion,
    hasKey: fetched || usable.length > 0,
    isLive: fetched || (live.data?.data.length ?? 0) > 0,
    fetched,
    stored,
  };
}

export type Progress = ReturnType<typeof useProgress>;
