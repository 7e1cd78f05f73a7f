/**
 * Which jobs this process still holds.
 *
 * One that stood still for longer than a lock has lost its jobs to others. Whatever it does with them further is in vain,
 * and where a job itself made it stand still, it would do so again.
 */
export function createJobLeases() {
  const leases = new Map<string, { isLost: boolean }>();
  const markLost = (ids: string[]) => {
    for (const id of ids) {
      const lease = leases.get(id);
      if (lease) lease.isLost = true;
    }
  };
  return {
    markLost,
    /** Notes that the job was taken, whoever had it before. */
    acquire(id: string) {
      markLost([id]);
      const lease = { isLost: false };
      leases.set(id, lease);
      const end = () => {
        if (leases.get(id) === lease) leases.delete(id);
      };
      return { isLost: () => lease.isLost, end };
    },
  };
}
