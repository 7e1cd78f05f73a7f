/**
 * SQL for a setting whose value the planner does not know.
 *
 * The planner evaluates `current_setting` for its estimates. A connection would then keep the plan for the first tenant
 * that uses a statement, and run it for all others. A comparison of rows is not evaluated before the statement runs, and
 * an index is used as before. A subquery has the same effect, but distributed tables do not allow it in a policy.
 */
const settingOf = (name: string): string =>
  `case when (0, 0) < (0, 1) then nullif(current_setting('parley.${name}', true), '')::uuid end`;

/** SQL for the tenant of a transaction, for policies and their migrations; null without a tenant. */
export const CURRENT_TENANT = settingOf('tenant');

/** SQL for the account of a transaction, for policies and their migrations; null without an account. */
export const CURRENT_ACCOUNT = settingOf('account');
