import { createContext, useContext } from 'react';

const STORAGE_KEY = 'parley.tenant';

/** The tenant in the address; undefined on pages without a tenant. Provided by `session.tsx`. */
export const TenantContext = createContext<string | undefined>(undefined);

/** Returns the id of the tenant in the address. Requests of a component belong to it. */
export const useTenantId = (): string | undefined => useContext(TenantContext);

/** Last visited tenant: of this tab, else of the browser. Only used for addresses without a tenant. */
export const lastTenant = (): string | null => sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY);

export function rememberTenant(tenantId: string): void {
  sessionStorage.setItem(STORAGE_KEY, tenantId);
  localStorage.setItem(STORAGE_KEY, tenantId);
}
