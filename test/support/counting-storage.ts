import type { Storage } from '../../src/storage/database/orm.ts';

/** Returns a storage that counts the single statements of tenants that contain a text; by default all of them. */
export function countingStorage(storage: Storage) {
  const statements: string[] = [];
  const counting: Storage = {
    ...storage,
    forTenant: tenantId => {
      const tenant = storage.forTenant(tenantId);
      return {
        ...tenant,
        query: (sql, params) => {
          statements.push(sql);
          return tenant.query(sql, params);
        },
      };
    },
  };
  return { counting, count: (part = '') => statements.filter(sql => sql.includes(part)).length };
}
