import { useEffect, useRef } from 'react';

/** Returns the ref of a part that can be closed. When it opens, its first field with an error is focused, unless another one is. */
export function useFaultFocus(isOpen: boolean) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const isFirst = !document.activeElement?.matches('[aria-invalid=true]');
    if (isOpen && isFirst) body.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [isOpen]);
  return body;
}
