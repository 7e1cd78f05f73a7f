/**
 * Tracks which jobs this process still holds.
 *
 * A process that stalls for longer than a lock loses its jobs to other workers. Further work on them is wasted, and
 * would stall the process again if a job was the cause.
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
    /** Records that this process holds the job now; earlier leases of it are lost. */
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
