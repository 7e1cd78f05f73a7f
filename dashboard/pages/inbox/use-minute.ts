import { useEffect, useState } from 'react';

const MINUTE_MS = 60_000;

/** Returns the time of the last rendering, at most a minute ago: for texts such as “5 min ago”. */
export function useMinute(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
