/**
 * Which jobs this process still holds.
 *
 * One that stood still for longer than a lock has lost its jobs to others. Whatever it does with them further is in vain,
 * and where a job itself made it stand still, it would do so again.
 */
export function createGrip() {
  const held = new Map<string, { isLost: boolean }>();
  const lose = (ids: string[]) => {
    for (const id of ids) {
      const hand = held.get(id);
      if (hand) hand.isLost = true;
    }
  };
  return {
    lose,
    /** Notes that the job was taken, whoever had it before. */
    take(id: string) {
      lose([id]);
      const hand = { isLost: false };
      held.set(id, hand);
      const end = () => {
        if (held.get(id) === hand) held.delete(id);
      };
      return { isLost: () => hand.isLost, end };
    },
  };
}
