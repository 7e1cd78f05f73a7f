import { toTypeId } from '../domain/ids.ts';
import { acknowledgeLosses, type FoundLosses, listLosses } from '../storage/upkeep/losses.ts';
import type { CommandContext } from './command.ts';

const present = ({ flushes, answers }: FoundLosses) => ({
  flushes,
  answers: answers.map(({ tenant_id, id, vanished_at }) => ({
    id,
    tenant_id: toTypeId('tenant', tenant_id),
    vanished_at,
  })),
});

/** `losses list`: lists accepted answers that are missing, as the audits have found them. */
export const listFound = async ({ storage }: CommandContext) => present(await listLosses(storage));

/**
 * `losses acknowledge`: closes the case. Prints what it removed from the list: keep it, because it is the only record.
 */
export const acknowledge = async ({ storage }: CommandContext) => ({
  acknowledged: present(await acknowledgeLosses(storage)),
});
