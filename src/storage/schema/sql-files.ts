import { readdirSync, readFileSync } from 'node:fs';
import { CURRENT_ACCOUNT, CURRENT_TENANT } from './row-scope.ts';

const SCHEMA = new URL('./', import.meta.url);
const FUNCTIONS = new URL('../functions/', import.meta.url);

/** Returns the statements of a file of the baseline, with the expressions of policies in place of `:current_…`. */
export const readSchema = (name: string): string =>
  readFileSync(new URL(`${name}.sql`, SCHEMA), 'utf8')
    .replaceAll(':current_tenant', CURRENT_TENANT)
    .replaceAll(':current_account', CURRENT_ACCOUNT);

/** Returns the current text of a function of the database, with its grants and triggers. */
export const readFunction = (name: string): string => readFileSync(new URL(`${name}.sql`, FUNCTIONS), 'utf8');

/** Returns the names of all functions of the database. */
export const functionNames = (): string[] =>
  readdirSync(FUNCTIONS)
    .map(file => file.replace(/\.sql$/, ''))
    .toSorted();
