import { useEffect, useRef, useState } from 'react';
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form';
import { draftKey, dropDraft, readDraft, writeDraft } from '../drafts.ts';
import { useSession } from '../session.tsx';

/** Time after an edit until it is stored. */
const PAUSE_MS = 300;

/** The resource that a form edits. */
interface Edited {
  kind: string;
  id: string;
  /** Version of the resource; undefined for a new one. */
  base: string | undefined;
}

/**
 * Keeps the edits of a form in this browser, and restores them when the form is opened again.
 *
 * `restoredAt` is the time of the restored edits. `drop` forgets them.
 */
export function useKeptEdits<Values extends FieldValues>(form: UseFormReturn<Values>, { kind, id, base }: Edited) {
  const { membership } = useSession();
  const key = draftKey(membership.tenant.id, membership.member_id, kind, id);
  const [restored, setRestored] = useState<{ at: string; isOutdated: boolean }>();
  const { isDirty } = form.formState;
  const values = form.watch();
  const current = useRef({ values, isDirty, isRestored: false, isDropped: false });
  current.current.values = values;
  current.current.isDirty = isDirty;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form opens
  useEffect(() => {
    const draft = readDraft<Values>(localStorage, key);
    current.current.isRestored = true;
    if (!draft) return;
    for (const [name, value] of Object.entries(draft.value))
      form.setValue(name as Path<Values>, value as never, { shouldDirty: true });
    setRestored({ at: draft.at, isOutdated: draft.base !== base });
  }, []);

  const text = JSON.stringify(values);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the values
  useEffect(() => {
    const keep = () => {
      const { values: value, isDirty: isEdited, isDropped } = current.current;
      if (isEdited && !isDropped) writeDraft(localStorage, key, { value, at: new Date().toISOString(), base });
    };
    if (!isDirty || !current.current.isRestored) return;
    current.current.isDropped = false;
    const timer = setTimeout(keep, PAUSE_MS);
    addEventListener('pagehide', keep);
    return () => {
      clearTimeout(timer);
      keep(); // the session may have ended
      removeEventListener('pagehide', keep);
    };
  }, [text, isDirty, key, base]);

  const drop = () => {
    current.current.isDropped = true;
    dropDraft(localStorage, key);
    setRestored(undefined);
  };
  return { restored, drop };
}
