import { useApi } from '../../api/hooks.ts';

/** The time zone of the tenant; undefined until it is known. */
export function useTimeZone(): string | undefined {
  return useApi('GET /v1/tenant', {}, { isExtra: true }).data?.timezone;
}
