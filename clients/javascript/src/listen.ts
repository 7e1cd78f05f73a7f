type Target = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;

/** Listens to an event; returns a function that stops listening. */
export function listen<Given extends Event>(
  target: Target,
  type: string,
  listener: (event: Given) => void,
  capture?: boolean,
): () => void {
  target.addEventListener(type, listener as (event: Event) => void, capture);
  return () => target.removeEventListener(type, listener as (event: Event) => void, capture);
}
