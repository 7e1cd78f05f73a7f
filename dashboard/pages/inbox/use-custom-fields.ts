import { useApi } from '../../api/hooks.ts';
import type { CustomField } from './custom-values.ts';

/** The tenant's own fields of conversations; empty until they are known. */
export const useCustomFields = (): readonly CustomField[] =>
  useApi('GET /v1/tenant', {}, { isExtra: true }).data?.custom_fields ?? [];
