import { readdirSync, readFileSync } from 'node:fs';
import { CURRENT_ACCOUNT, CURRENT_TENANT } from './row-scope.ts';

const SCHEMA = new URL('./', import.meta.url);
const FUNCTIONS = new URL('../functions/', import.meta.url);

/** Returns a baseline file's SQL, in which `:current_…` is replaced by the expressions for policies. */
export const readSchema = (name: string): string =>
  readFileSync(new URL(`${name}.sql`, SCHEMA), 'utf8')
    .replaceAll(':current_tenant', CURRENT_TENANT)
    .replaceAll(':current_account', CURRENT_ACCOUNT);

/** Returns the SQL that creates a database function, with its grants and triggers. */
export const readFunction = (name: string): string => readFileSync(new URL(`${name}.sql`, FUNCTIONS), 'utf8');

/** Returns the names of all functions of the database. */
export const functionNames = (): string[] =>
  readdirSync(FUNCTIONS)
    .map(file => file.replace(/\.sql$/, ''))
    .toSorted();
