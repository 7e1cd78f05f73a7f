import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve(import.meta.dirname, '../../clients/contract');

/** Reads a file of the contract for all clients (`clients/contract/README.md`). */
// biome-ignore lint/suspicious/noExplicitAny: the contract is data, described in its README
export const contract = (name: string): any => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));

export const SCENARIO = join(FOLDER, 'scenario.json');
