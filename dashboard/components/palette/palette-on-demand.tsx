import { lazy, Suspense, useEffect } from 'react';
import { loadPart } from '../../load-part.ts';

const load = () => loadPart(() => import('./palette.tsx')).then(module => ({ default: module.Palette }));
const Palette = lazy(load);

/** The palette on Ctrl+K. It is loaded after the page, because the login does without it. */
export function PaletteOnDemand({ isOpen, setOpen }: { isOpen: boolean; setOpen(isOpen: boolean): void }) {
  useEffect(() => {
    void load();
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [setOpen]);
  return (
    <Suspense>
      <Palette isOpen={isOpen} close={() => setOpen(false)} />
    </Suspense>
  );
}
