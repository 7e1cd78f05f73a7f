import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Refusal, ROOT } from './steps.ts';

/** The publisher of releases, from `release/owner.yaml`. */
export interface Owner {
  name: string;
  security_contact: string;
  home: string;
  source: string;
}

const FIELDS = ['name', 'security_contact', 'home', 'source'] as const satisfies (keyof Owner)[];

/** Returns the publisher. Throws a `Refusal` that names the empty values. */
export function readOwner(file = join(ROOT, 'release/owner.yaml')): Owner {
  const read = (parse(readFileSync(file, 'utf8')) ?? {}) as Partial<Owner>;
  const missing = FIELDS.filter(field => typeof read[field] !== 'string' || read[field].trim() === '');
  if (missing.length > 0)
    throw new Refusal(`release/owner.yaml has no ${missing.join(', ')}: only the owner knows them.`);
  return read as Owner;
}
